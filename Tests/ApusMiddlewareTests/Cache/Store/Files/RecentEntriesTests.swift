#if os(Linux) || os(macOS)
import ApusFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Copies of entries that were read lately")
struct RecentEntriesTests {
  // MARK: The copies

  /// Returns a copy of about 1 KiB and the content.
  private func copy(_ name: String, content: Int = 0) throws -> RecentEntries.Copy {
    let response = try #require(CacheWorld.update(["ETag: \"a\""]).new)
    let file = "apus-copy-\(UUID())"
    let folder = FileManager.default.temporaryDirectory.path
    _ = FileManager.default.createFile(atPath: folder + "/" + file, contents: nil)
    defer { try? FileManager.default.removeItem(atPath: folder + "/" + file) }
    let identity = try #require(try Folder(folder).identity(of: file))
    return RecentEntries.Copy(
      head: EntryHead(response: response, groups: []), content: Data(count: content), name: name, identity: identity)
  }

  @Test("Copies are found by their entries until they are removed")
  func find() throws {
    var recent = RecentEntries()
    for id in 1...3 as ClosedRange<UInt64> { recent.insert(try copy("\(id)"), id) }
    recent.insert(try copy("new"), 2)
    #expect(recent.count == 3 && recent.use(1)?.name == "1" && recent.use(2)?.name == "new" && recent.use(4) == nil)
    recent.remove(2)
    #expect(recent.use(2) == nil && recent.count == 2)
    recent.removeAll()
    #expect(recent.use(1) == nil && recent.count == 0)
  }

  @Test("Of two halves the older one is dropped; what is used stays")
  func halves() throws {
    var recent = RecentEntries(halfCapacity: 10_000)
    // Four copies fill a half.
    for id in 1...100 as ClosedRange<UInt64> {
      recent.insert(try copy("\(id)", content: 1300), id)
      #expect(recent.use(1) != nil && recent.use(id) != nil && recent.count <= 8)
    }
    #expect(recent.use(90) == nil)
    recent.insert(try copy("large", content: 10_000), 101)
    #expect(recent.use(101) == nil && recent.use(1) != nil)
  }

  // MARK: In a folder

  private func copies(_ store: FolderStore, _ key: CacheKey) -> CacheEntries? {
    switch store.entriesOrBegin(key) {
    case .found(let entries): return entries
    case .began:
      store.end()
      return CacheEntries()
    case nil: return nil
    }
  }

  /// Stores a response and reads it, so that there is a copy of it.
  private func read(_ bench: FolderBench, _ store: FolderStore) async throws -> CacheKey {
    #expect(await bench.put(store, CacheWorld.update(["ETag: \"a\""], groups: ["g"]), "content"))
    let key = await bench.key(store)
    #expect(copies(store, key) == nil)
    #expect(await store.entries(for: key).responses.count == 1)
    return key
  }

  private func text(_ entries: CacheEntries?) -> String? {
    guard let entries, let id = entries.responses.first?.id else { return nil }
    return entries.content(of: id).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("After an entry was read its copy is used, and an entry that is not stored needs no file either")
  func copyIsUsed() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      let key = try await read(bench, store)
      #expect(text(copies(store, key)) == "content")
      #expect(copies(store, await bench.key(store, "/other"))?.isEmpty == true)
      #expect(text(await store.entries(for: key)) == "content")
    }
  }

  @Test(
    "A copy is not used once its file was altered, replaced, removed or given to others",
    arguments: ["altered", "replaced", "removed", "shared"])
  func changedFile(how: String) async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      let key = try await read(bench, store)
      let name = try #require(bench.entries.first)
      let path = bench.path + "/" + name
      switch how {
      case "altered":
        bench.write(bench.bytes(name).map { $0 ^ 1 }, name)
        // The time of a file has a coarse unit.
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
      case "replaced":
        try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      case "removed": try FileManager.default.removeItem(atPath: path)
      default: try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      }
      #expect(copies(store, key) == nil)
      // A replaced file with the same bytes is still the entry.
      #expect(text(await store.entries(for: key)) == (how == "replaced" ? "content" : nil))
    }
  }

  @Test("A copy shows an invalidation of this process and of another one, and no removed account")
  func invalidated() async throws {
    try await FolderBench.with { bench in
      let (store, other) = (bench.store(), bench.store())
      let key = try await read(bench, store)
      await store.invalidate(groups: ["g"])
      #expect(copies(store, key)?.responses.first?.isInvalidated == true)
      #expect(await bench.put(store, CacheWorld.update(["ETag: \"b\""], sentAt: store.begin()), "new"))
      store.end()
      _ = await store.entries(for: key)
      #expect(copies(store, key)?.responses.contains { !$0.isInvalidated } == true)
      await other.invalidate(groups: ["h"])
      #expect(copies(store, key) == nil)
      _ = await store.entries(for: key)
      #expect(copies(store, key) != nil)

      #expect(await bench.put(store, .account(1), CacheWorld.update(sentAt: store.begin())))
      store.end()
      let mine = await bench.key(store, .account(1))
      _ = await store.entries(for: mine)
      #expect(copies(store, mine)?.isEmpty == false)
      // Another process signs the account out.
      await other.remove(account: 1)
      #expect(copies(store, mine) == nil)
      #expect(await store.entries(for: mine).isEmpty)
      #expect(copies(store, mine) == nil || copies(store, mine)?.isEmpty == true)
    }
  }

  @Test("A copy ends when its entry is replaced, evicted or removed")
  func endOfCopy() async throws {
    try await FolderBench.with { bench in
      let (store, other) = (bench.store(), bench.store())
      let key = try await read(bench, store)
      let found = try #require(copies(store, key)?.responses.first)
      // A 304 replaces the head.
      var fresh = found
      fresh.endpointLifetime = 77
      let update = CacheUpdate(result: .received, freshened: [fresh])
      #expect(await store.apply(update, content: nil, under: key, at: CacheWorld.origin))
      #expect(copies(store, key) == nil)
      #expect(await store.entries(for: key).responses.first?.endpointLifetime == 77)
      #expect(copies(store, key)?.responses.first?.endpointLifetime == 77)
      // Another process removes everything.
      await other.removeAll()
      #expect(copies(store, key) == nil)
      #expect(await store.entries(for: key).isEmpty)

      #expect(await bench.put(store, CacheWorld.update(sentAt: store.begin())))
      // Then the names are read again, and the changes of the other process are known.
      bench.advance(1000)
      #expect(await store.entries(for: key).responses.count == 1)
      #expect(copies(store, key)?.isEmpty == false)
      await store.removeAll()
      #expect(copies(store, key)?.isEmpty == true)
    }
  }

  @Test("Signing out leaves nothing in memory")
  func signOut() async throws {
    try await FolderBench.with { bench in
      let folder = try CacheFolder(bench.path, capacity: 1 << 20) { 0 }
      let key = CacheKey(
        target: folder.subjects.target("/x", at: CacheWorld.origin), account: 1,
        session: KeyedDigest(first: 0, second: 0))
      #expect(folder.apply(CacheWorld.update(), content: Data("a".utf8), under: key, at: CacheWorld.origin))
      #expect(folder.entries(for: key).responses.count == 1)
      #expect(folder.state.withLock { $0.recent.count } == 1)
      folder.remove(.account(1)) { $0.account == 1 }
      #expect(folder.state.withLock { $0.recent.count } == 0)
    }
  }

  @Test("A copy is removed on a memory warning, and a large entry has none")
  func bounds() async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 8 << 20)
      let key = try await read(bench, store)
      store.removeCopies()
      #expect(copies(store, key) == nil)
      let large = String(repeating: "x", count: EntryFormat.smallSize)
      #expect(await bench.put(store, "/large", CacheWorld.update(), large))
      let other = await bench.key(store, "/large")
      #expect(await store.entries(for: other).responses.count == 1)
      #expect(copies(store, other) == nil)
    }
  }
}
#endif
