#if os(Linux) || os(macOS)
import ApusCore
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Stored responses in a folder")
struct FolderStoreTests {
  private func update(_ lines: String..., sentAt generation: UInt64 = 0, groups: Set<String> = []) -> CacheUpdate {
    CacheWorld.update(lines, sentAt: generation, groups: groups)
  }

  // MARK: Storing

  @Test("A stored response is found by another store of the folder, with all that the rules need")
  func stores() async throws {
    try await FolderBench.with { bench in
      var request = CacheWorld.request(.get, "Accept-Language: de", "Accept: text/*")
      request.seal = { name, value in name == "accept" ? "sealed" : value }
      let exchange = CacheExchange(requestTime: CacheWorld.at(1), responseTime: CacheWorld.at(2), generation: 0)
      let head = CacheWorld.response(
        203, "ETag: \"a\"", "Vary: Accept-Language, Accept, X", "Cache-Control: max-age=60", "Date: {0}", "X: 1",
        "X: 2", "Cache-Groups: \"h\"")
      var response = StoredResponse(head, to: request, during: exchange)
      (response.endpointLifetime, response.endpointGroups) = (60, ["g"])
      response.servesRanges = false
      let first = bench.store()
      #expect(await bench.put(first, CacheUpdate(new: response)))
      response.contentLength = 7
      for store in [first, bench.store()] {
        let entries = await store.entries(for: bench.key(store))
        let found = try #require(entries.responses.first)
        response.id = found.id
        #expect(
          found == response && found.fields == response.fields && found.status.reasonPhrase == head.status.reasonPhrase)
        #expect(entries.responses.count == 1 && entries.content(of: found.id) == Data("content".utf8))
        #expect(await store.usage > 100)
        for (path, account) in [("/y", nil), ("/x", 1)] as [(String, UInt64?)] {
          #expect(await store.entries(for: bench.key(store, .account(account, path))).isEmpty)
        }
      }
    }
  }

  @Test("A response to HEAD has no content, an empty one has empty content; large content is read when it is needed")
  func contents() async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 8 << 20)
      let large = String(repeating: "0123456789", count: 30_000)
      let contents: [(String, String?)] = [("/head", nil), ("/empty", ""), ("/large", large)]
      for (path, content) in contents { #expect(await bench.put(store, .account(nil, path), update(), content)) }
      for store in [store, bench.store(capacity: 8 << 20)] {
        for (path, content) in contents {
          let entries = await store.entries(for: bench.key(store, .account(nil, path)))
          let id = try #require(entries.responses.first?.id)
          #expect(await store.content(of: id, in: entries) == content.map { Data($0.utf8) })
          #expect((entries.content(of: id) == nil) == (path != "/empty"))
        }
      }
    }
  }

  @Test("Variants are stored beside each other; outdated ones are removed with their files")
  func variants() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, update(), "one")
      await bench.put(store, update(), "two")
      let first = try #require(await store.entries(for: bench.key(store)).responses.min { $0.id < $1.id })
      var third = update()
      third.outdated = [first.id]
      await bench.put(store, third, "three")
      #expect(await bench.texts(store) == ["two", "three"] && bench.entries.count == 2)
      // Ids of another key have no effect.
      let others = Set(await store.entries(for: bench.key(store)).responses.map(\.id))
      await bench.put(store, "/y", CacheUpdate(outdated: others), nil)
      #expect(await bench.texts(store) == ["two", "three"])
      await bench.put(store, CacheUpdate(invalidated: others), nil)
      #expect(await bench.texts(store).isEmpty && bench.entries.isEmpty)
      #expect(await store.usage == 0)
    }
  }

  @Test("At most 32 variants of a key are stored")
  func variantLimit() async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 8 << 20)
      for number in 0..<40 { await bench.put(store, update(), "\(number)") }
      #expect(await bench.texts(store) == Set((8..<40).map(String.init)) && bench.entries.count == 32)
      // The next change corrects the usage.
      await bench.put(store, "/y")
      let sizes = bench.entries.map { bench.bytes($0).count }.reduce(0, +)
      #expect(await store.usage == Int64(sizes))
    }
  }

  @Test(
    "A confirmed response gets new fields and keeps its content, its id and its file's name", arguments: [10, 300_000])
  func freshens(size: Int) async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 8 << 20)
      let content = String(repeating: "x", count: size)
      await bench.put(store, update("ETag: \"a\"", "A: 1"), content)
      let names = bench.entries
      let old = try #require(await store.entries(for: bench.key(store)).responses.first)
      var fresh = try #require(update("ETag: \"a\"", "A: 2", "B: new").new)
      fresh.id = old.id
      #expect(await bench.put(store, CacheUpdate(freshened: [fresh]), nil))
      for store in [store, bench.store(capacity: 8 << 20)] {
        let entries = await store.entries(for: bench.key(store))
        #expect(entries.responses.map { $0.fields } == [fresh.fields] && bench.entries == names)
        #expect(await bench.texts(store) == [content])
        #expect(await store.usage == Int64(bench.bytes(names[0]).count))
      }
      #expect(await store.entries(for: bench.key(store)).responses.map(\.id) == [old.id])
      #expect(await !bench.put(store, "/y", CacheUpdate(freshened: [fresh]), nil))
      fresh.id += 1
      #expect(await !bench.put(store, CacheUpdate(freshened: [fresh]), nil))
    }
  }

  // MARK: Space

  @Test("A response larger than an eighth of the capacity is not stored, but removes what is outdated")
  func tooLarge() async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 80_000)
      #expect(await bench.put(store, update(), String(repeating: "x", count: 9000)))
      var large = update()
      large.outdated = Set(await store.entries(for: bench.key(store)).responses.map(\.id))
      #expect(await !bench.put(store, large, String(repeating: "x", count: 10_000)))
      #expect(await store.usage == 0 && bench.entries.isEmpty)
    }
  }

  @Test("At the capacity an eighth is made free, least recently used first, also after a restart")
  func eviction() async throws {
    try await FolderBench.with { bench in
      let content = String(repeating: "x", count: 900)
      var store = bench.store(capacity: 40_000)
      for number in 0..<30 {
        #expect(await bench.put(store, "/\(number)", update(), content))
        // The order of files whose times are equal is random.
        let newest = try #require(bench.entries.first { bench.age($0) < 1000 })
        bench.setAge(of: newest, 100_000 - Double(number))
      }
      // Files are touched at most once a minute.
      bench.advance(CacheFolder.touchInterval)
      store = bench.store(capacity: 40_000)
      for number in [0, 1] {
        for response in await store.entries(for: bench.key(store, "/\(number)")).responses { store.used(response.id) }
      }
      for number in 30..<45 {
        bench.advance(1)
        #expect(await bench.put(store, "/\(number)", update(), content))
        #expect(await store.usage <= 40_000)
      }
      var left: [Int] = []
      for number in 0..<45 where await !bench.texts(store, "/\(number)").isEmpty { left.append(number) }
      #expect(
        left.prefix(2) == [0, 1] && !left.contains(2) && !left.contains(3) && left.suffix(15) == Array(30..<45)[...])
      #expect(left.count == bench.entries.count)
    }
  }

  @Test("Entries that were used since their files were touched are removed later than others")
  func untouched() async throws {
    try await FolderBench.with { bench in
      let content = String(repeating: "x", count: 900)
      let store = bench.store(capacity: 40_000)
      for number in 0..<45 {
        bench.advance(1)
        #expect(await bench.put(store, "/\(number)", update(), content))
        for name in bench.entries { bench.setAge(of: name, 100_000) }
        guard let id = await store.entries(for: bench.key(store, "/0")).responses.first?.id else { continue }
        store.used(id)
      }
      #expect(await bench.texts(store, "/0") == [content])
      #expect(await bench.texts(store, "/1").isEmpty)
    }
  }

  @Test("The modification time of a used file is set at most once a minute")
  func touches() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store)
      let folder = try CacheFolder(bench.path, capacity: 1 << 20) { 0 }
      let name = try #require(bench.entries.first)
      let (id, now) = (try #require(folder.state.withLock { $0.index.ids.first }), Int64(100_000))
      folder.state.withLock { state in state.index.update(id) { $0.touched = now } }
      #expect(folder.used(id) == nil)
      let later = try CacheFolder(bench.path, capacity: 1 << 20) { .max / 2 }
      let other = try #require(later.state.withLock { $0.index.ids.first })
      #expect(later.used(other) == name && later.used(other) == nil)
    }
  }

  // MARK: Invalidation

  @Test("An invalidated target is removed for all accounts; a response to an earlier request is stored as stale")
  func targets() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      _ = await store.subjects()
      let generation = store.begin()
      for account in [nil, 1, 2] as [UInt64?] { await bench.put(store, .account(account)) }
      await bench.put(store, "/y")
      await store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/x"]))
      for account in [nil, 1, 2] as [UInt64?] { #expect(await bench.texts(store, .account(account)).isEmpty) }
      #expect(await bench.texts(store, "/y") == ["content"] && bench.entries.count == 1)
      // Without a validator it could never be used.
      #expect(await !bench.put(store, update(sentAt: generation)))
      #expect(await bench.put(store, update("ETag: \"a\"", sentAt: generation)))
      #expect(await bench.texts(store) == ["content*"])
      #expect(await bench.texts(bench.store()) == ["content*"])
      store.end()
    }
  }

  @Test("An invalidated group concerns what was requested before, also after a restart")
  func groups() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      _ = await store.subjects()
      let before = store.begin()
      await bench.put(store, "/x", update(groups: ["g"]))
      await bench.put(store, "/y", update("Cache-Groups: \"g\", \"h\"", "ETag: \"a\""))
      await bench.put(store, "/z", update(groups: ["h"]))
      let other = Origin(scheme: "https", host: "b.example", port: 443)
      await store.invalidate(CacheInvalidation(other, groups: ["g"]))
      #expect(await bench.texts(store, "/x") == ["content"])
      await store.invalidate(CacheInvalidation(CacheWorld.origin, groups: ["g"]))
      #expect(await bench.put(store, "/late", update("ETag: \"a\"", sentAt: before, groups: ["g"])))
      #expect(await !bench.put(store, "/later", update(sentAt: before, groups: ["g"])))
      #expect(await bench.put(store, "/new", update(sentAt: store.begin(), groups: ["g"])))
      for store in [store, bench.store()] {
        for (path, text) in [
          ("/x", "content*"), ("/y", "content*"), ("/z", "content"), ("/late", "content*"), ("/new", "content"),
        ] {
          #expect(await bench.texts(store, .account(nil, path)) == [text], "\(path)")
        }
      }
      await store.invalidate(groups: ["h", "other"])
      #expect(await bench.texts(bench.store(), "/z") == ["content*"])
    }
  }

  @Test("Beyond 1,024 recorded groups, older responses with groups must be validated; newer ones and others stay valid")
  func groupCapacity() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, "/old", update(groups: ["a"]))
      await bench.put(store, "/none")
      for number in 0..<8 { await store.invalidate(groups: Set((0..<128).map { "\(number) \($0)" })) }
      #expect(await bench.texts(bench.store(), "/old") == ["content"])
      await bench.put(store, "/new", update(sentAt: store.begin(), groups: ["a"]))
      await store.invalidate(groups: ["one more"])
      for store in [store, bench.store()] {
        #expect(await bench.texts(store, "/old") == ["content*"])
        #expect(await bench.texts(store, "/none") == ["content"])
        #expect(await bench.texts(store, "/new") == ["content"])
      }
      // The same group again and again does not use up what others need.
      await store.invalidate(groups: ["b"])
      await bench.put(store, "/b", update(sentAt: store.begin(), groups: ["c"]))
      for _ in 0..<10 { await store.invalidate(groups: ["b"]) }
      #expect(await bench.texts(bench.store(), "/b") == ["content"])
    }
  }

  // MARK: Removal

  @Test(
    "Responses to requests that were sent before a removal are neither kept nor stored",
    arguments: ["account", "accounts", "everything"])
  func removal(_ kind: String) async throws {
    try await FolderBench.with { bench in
      let accounts: [UInt64?] = [nil, 1, 2]
      let store = bench.store()
      _ = await store.subjects()
      let before = store.begin()
      for account in accounts { await bench.put(store, .account(account)) }
      let removed: [UInt64?]
      switch kind {
      case "account":
        await store.remove(account: 1)
        removed = [1]
      case "accounts":
        await store.removeAccounts()
        removed = [1, 2]
      default:
        await store.removeAll()
        removed = accounts
      }
      #expect(bench.entries.count == 3 - removed.count)
      for account in accounts {
        #expect(await bench.texts(store, .account(account)).isEmpty == removed.contains(account))
        let isLateStored = await bench.put(store, .account(account, "/late"), update(sentAt: before))
        #expect(isLateStored == !removed.contains(account))
        #expect(await bench.put(store, .account(account, "/new"), update(sentAt: store.begin())))
      }
    }
  }

  @Test("A confirmation of a request that was sent before a removal or an invalidation changes nothing")
  func lateConfirmation() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      _ = await store.subjects()
      let before = store.begin()
      let targets = [FolderBench.Target.account(1), "/y"]
      for target in targets { await bench.put(store, target) }
      await store.remove(account: 1)
      await store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/y"]))
      for target in targets {
        await bench.put(store, target, update("ETag: \"a\"", "A: new", sentAt: store.begin()))
        var late = try #require(update("ETag: \"a\"", "A: late", sentAt: before).new)
        late.id = try #require(await store.entries(for: bench.key(store, target)).responses.first?.id)
        #expect(await !bench.put(store, target, CacheUpdate(freshened: [late]), nil))
        let name = try #require(HTTPField.Name("A"))
        #expect(await store.entries(for: bench.key(store, target)).responses.map { $0.fields[name] } == ["new"])
      }
    }
  }

  @Test("An entry of an account that a killed process was about to remove is not used")
  func interruptedRemoval() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, .account(1))
      await bench.put(store, .account(2))
      let kept = bench.entries.map { ($0, bench.bytes($0)) }
      await store.remove(account: 1)
      for (name, bytes) in kept { bench.write(bytes, name) }
      let other = bench.store()
      #expect(await bench.texts(other, .account(1)).isEmpty)
      #expect(await bench.texts(other, .account(2)) == ["content"])
      #expect(bench.entries.count == 1)
    }
  }

  @Test("The folder contains neither URL nor account nor credentials")
  func secrets() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, .account(0x5EC2E7, "/secret-path?secret-query"), update(groups: ["group"]))
      await store.invalidate(CacheInvalidation(CacheWorld.origin, targets: ["/secret-path"], groups: ["secret-group"]))
      for name in bench.names {
        let text = name + String(decoding: bench.bytes(name), as: UTF8.self)
        for word in ["secret", "a.example", "https"] { #expect(!text.contains(word)) }
      }
    }
  }
}
#endif
