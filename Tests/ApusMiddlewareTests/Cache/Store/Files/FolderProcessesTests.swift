#if os(Linux) || os(macOS)
import ApusCore
import ApusFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

/// Each store has descriptors of its own, so that the locks between processes work between stores, too.
@Suite("A folder that several stores use at once")
struct FolderProcessesTests {
  @Test("What one store has stored, another finds within a second")
  func additions() async throws {
    try await FolderBench.with { bench in
      let (first, second) = (bench.store(), bench.store())
      #expect(await bench.texts(second).isEmpty)
      await bench.put(first)
      // The names were read less than a second ago.
      #expect(await bench.texts(second).isEmpty)
      bench.advance(CacheFolder.scanInterval)
      #expect(await bench.texts(second) == ["content"])
      // Without changes by others the names are not read again.
      await bench.put(second, "/y")
      bench.advance(10_000)
      _ = await bench.texts(second)
      #expect(await bench.texts(first, "/y") == ["content"])
    }
  }

  @Test("What one store has removed, another does not find")
  func removals() async throws {
    try await FolderBench.with { bench in
      let (first, second) = (bench.store(), bench.store())
      await bench.put(first)
      await bench.put(first, .account(1, "/y"))
      #expect(await bench.texts(second) == ["content"])
      await first.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/x"]))
      #expect(await bench.texts(second).isEmpty)
      _ = await second.subjects()
      let generation = second.begin()
      await first.removeAccounts()
      #expect(await bench.texts(second, .account(1, "/y")).isEmpty)
      // The response of an earlier session arrives in another process.
      #expect(await !bench.put(second, .account(1, "/late"), CacheWorld.update(sentAt: generation)))
      #expect(await bench.put(second, .account(1, "/new"), CacheWorld.update(sentAt: second.begin())))
    }
  }

  @Test("An invalidation by one store concerns what another has just stored, and its next lookup")
  func invalidations() async throws {
    try await FolderBench.with { bench in
      let (first, second) = (bench.store(), bench.store())
      #expect(await bench.texts(first).isEmpty)
      await bench.put(second, "/x", CacheWorld.update(groups: ["g"]))
      await bench.put(second, "/y")
      #expect(await bench.texts(second) == ["content"])
      await first.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/y"], groups: ["g"]))
      #expect(await bench.texts(second) == ["content*"])
      #expect(await bench.texts(second, "/y").isEmpty)
      await bench.put(second, "/z", CacheWorld.update(sentAt: second.begin(), groups: ["g"]))
      #expect(await bench.texts(second, "/z") == ["content"])
    }
  }

  @Test("A confirmation by one store does not bring back what another has removed")
  func freshened() async throws {
    try await FolderBench.with { bench in
      let (first, second) = (bench.store(), bench.store())
      await bench.put(first, CacheWorld.update(["ETag: \"a\""]))
      var fresh = try #require(CacheWorld.update(["ETag: \"a\""]).new)
      fresh.id = try #require(await second.entries(for: bench.key(second)).responses.first?.id)
      await first.removeAll()
      #expect(await !bench.put(second, CacheUpdate(freshened: [fresh]), nil))
      #expect(bench.entries.isEmpty)
    }
  }

  @Test("Several stores together stay below the capacity, and the least recently used entries of all are removed")
  func capacity() async throws {
    try await FolderBench.with { bench in
      let stores = (0..<3).map { _ in bench.store(capacity: 60_000) }
      let content = String(repeating: "x", count: 1000)
      for number in 0..<150 {
        bench.advance(1)
        #expect(await bench.put(stores[number % 3], "/\(number)", CacheWorld.update(), content))
        let sizes = bench.entries.map { bench.bytes($0).count }
        #expect(sizes.reduce(0, +) <= 60_000)
        #expect(await stores[0].usage == Int64(sizes.reduce(0, +)))
      }
      #expect(bench.entries.count > 30)
    }
  }

  @Test("While another process keeps the lock, nothing is stored, and what is stored is found")
  func lock() async throws {
    try await FolderBench.with { bench in
      let (store, other) = (bench.store(), bench.store())
      await bench.put(store, "/x", CacheWorld.update(groups: ["g"]))
      await bench.put(store, .account(1, "/a"))
      _ = await other.subjects()
      let earlier = other.begin()
      let state = try #require(try Folder(bench.path).existing("state", for: .writing, isPrivate: true))
      #expect(try state.lock())
      let before = store.begin()
      #expect(await !bench.put(store, "/y"))
      #expect(await bench.texts(store) == ["content"] && bench.names.count == 3)
      // Invalidations and removals have an effect in this process at once, and are shared later.
      await store.invalidate(groups: ["g"])
      #expect(await bench.texts(store) == ["content*"])
      await store.remove(account: 1)
      #expect(await bench.texts(store, .account(1, "/a")).isEmpty && bench.entries.count == 1)
      #expect(await bench.texts(bench.store()) == ["content"])
      state.unlock()
      #expect(await bench.put(store, "/y"))
      #expect(await bench.texts(bench.store()) == ["content*"])
      #expect(await !bench.put(store, .account(1, "/a"), CacheWorld.update(sentAt: before)))
      #expect(await !bench.put(other, .account(1, "/a"), CacheWorld.update(sentAt: earlier)))
      #expect(await bench.put(store, .account(1, "/a"), CacheWorld.update(sentAt: store.begin())))
      store.end()
    }
  }

  @Test("Names that are read while an entry is stored neither remove nor repeat it")
  func concurrentScan() throws {
    var state = CacheFolder.State(index: CacheIndex(capacity: 1000), scanned: 0)
    let key = CacheKey(
      target: KeyedDigest(first: 1, second: 1), account: nil, session: KeyedDigest(first: 1, second: 1))
    func entry(_ serial: UInt64) -> CacheFolder.FileEntry { .init(serial: serial, touched: 0, used: 0) }
    state.insert(key, size: 10, entry(1))
    state.insert(key, size: 10, entry(2))
    let last = state.index.lastID
    // Stored after the names were read.
    state.insert(key, size: 10, entry(3))
    let found = [EntryName.known(key, serial: 2), EntryName.known(key, serial: 4)]
    #expect(state.merge(found, last).map(\.serial) == [4])
    state.insert(key, size: 10, entry(4))
    state.insert(key, size: 10, entry(4))
    #expect(Set(state.index.ids.compactMap { state.index[$0]?.payload.serial }) == [2, 3, 4] && state.index.count == 3)
  }

  @Test("Two accounts that use one folder through several stores never get each other's responses")
  func accountsFuzz() async throws {
    try await FolderBench.with { bench in
      var stores = (0..<2).map { _ in bench.store(capacity: 40_000) }
      var generator = SystemRandomNumberGenerator()
      var (sessions, state) = ([0, 0], 0)
      for _ in 0..<fuzzRounds(usually: 150) {
        let account = Int.random(in: 0...1, using: &generator)
        let index = Int.random(in: 0...1, using: &generator)
        let store = stores[index]
        let target = FolderBench.Target.account(UInt64(account))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: stores[index] = bench.store(capacity: 40_000)
        case 1:
          sessions[account] += 1
          await store.remove(account: UInt64(account))
        case 2:
          state += 1
          await store.invalidate(groups: ["g"])
        case 3:
          let generation = store.begin()
          let text = "\(account) \(sessions[account]) \(state)"
          if Bool.random() { bench.advance(1000) }
          if Bool.random() {
            sessions[account] += 1
            await stores[1 - index].remove(account: UInt64(account))
          }
          await bench.put(store, target, CacheWorld.update(["ETag: \"a\""], sentAt: generation, groups: ["g"]), text)
          store.end()
        default:
          _ = await store.subjects()
          // A lookup precedes each request, and reads what other processes have changed.
          _ = await bench.texts(store, target)
          let update = CacheWorld.update(["ETag: \"a\""], sentAt: store.begin(), groups: ["g"])
          await bench.put(store, target, update, "\(account) \(sessions[account]) \(state)")
        }
        for store in stores {
          for text in await bench.texts(store, target) {
            let words = text.split { " *".contains($0) }
            #expect(words[0] == "\(account)" && words[1] == "\(sessions[account])")
            #expect(text.hasSuffix("*") || words[2] == "\(state)")
          }
        }
      }
    }
  }

  @Test("Random calls of many tasks through two stores leave whole entries and the right usage")
  func concurrentFuzz() async throws {
    try await FolderBench.with { bench in
      let stores = (0..<2).map { _ in bench.store(capacity: 100_000) }
      let keys = [await bench.key(stores[0], "/0"), await bench.key(stores[0], .account(1, "/1"))]
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            let store = stores[task % 2]
            for round in 0..<25 {
              let key = keys[(round + task) % 2]
              let generation = store.begin()
              let entries = await store.entries(for: key)
              for response in entries.responses {
                let content = await store.content(of: response.id, in: entries)
                #expect(content.map { Set($0).count == 1 } ?? true)
                store.used(response.id)
              }
              var update = CacheWorld.update(["ETag: \"a\""], sentAt: generation, groups: ["g"])
              update.outdated = Set(entries.responses.prefix(2).map(\.id))
              let content = Data(repeating: UInt8(task), count: 1000 + round)
              _ = await store.apply(update, content: content, under: key, at: CacheWorld.origin)
              store.end()
              if round % 10 == task { await store.remove(account: 1) }
              if round % 12 == task { await store.invalidate(groups: ["g"]) }
            }
          }
        }
      }
      // The next change shares what is left.
      await bench.put(stores[0], "/last")
      await bench.put(stores[1], "/last")
      let sizes = bench.entries.map { bench.bytes($0).count }.reduce(0, +)
      #expect(await stores[0].usage == Int64(sizes))
      #expect(bench.names.count == bench.entries.count + 1)
      await stores[1].removeAll()
      #expect(await stores[0].usage == 0 && bench.names == ["state"])
    }
  }
}
#endif
