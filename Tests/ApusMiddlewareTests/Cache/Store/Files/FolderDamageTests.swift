#if os(Linux) || os(macOS)
import ApusFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Damaged and foreign files in the folder of a cache")
struct FolderDamageTests {
  private func open(_ bench: FolderBench) throws -> CacheFolder {
    try CacheFolder(bench.path, capacity: 8 << 20) { 0 }
  }

  /// Stores one response, and returns the name and the bytes of its file.
  private func stored(_ bench: FolderBench, _ content: String = "content") async throws -> (
    name: String, bytes: [UInt8]
  ) {
    let update = CacheWorld.update(["ETag: \"a\"", "Vary: Accept"], groups: ["g"])
    #expect(await bench.put(bench.store(capacity: 8 << 20), update, content))
    let name = try #require(bench.entries.first)
    return (name, bench.bytes(name))
  }

  private func isFound(_ bench: FolderBench, _ folder: CacheFolder) -> Bool {
    let key = CacheKey(
      target: folder.subjects.target("/x", at: CacheWorld.origin), account: nil,
      session: KeyedDigest(first: 0, second: 0))
    let entries = folder.entries(for: key)
    return entries.responses.contains { response in
      entries.content(of: response.id) != nil || folder.content(of: response.id) != nil
    }
  }

  // MARK: Entries

  @Test("A file that was altered at any byte is a miss, and removed")
  func altered() async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench)
      #expect(isFound(bench, try open(bench)))
      for index in bytes.indices {
        var altered = bytes
        altered[index] ^= [0x01, 0x80, 0xFF][index % 3]
        bench.write(altered, name)
        #expect(!isFound(bench, try open(bench)), "byte \(index)")
        #expect(bench.entries.isEmpty, "byte \(index)")
      }
      bench.write(bytes, name)
      #expect(isFound(bench, try open(bench)))
    }
  }

  @Test("A file that was shortened or extended is a miss, and removed")
  func lengths() async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench)
      for changed in bytes.indices.map({ Array(bytes[..<$0]) }) + [bytes + [0], bytes + bytes] {
        bench.write(changed, name)
        #expect(!isFound(bench, try open(bench)) && bench.entries.isEmpty, "\(changed.count) of \(bytes.count)")
      }
    }
  }

  @Test("Altered content of a large file is recognized when it is read", arguments: [70_000, 300_000])
  func largeContent(size: Int) async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench, String(repeating: "x", count: size))
      for index in [bytes.count - size, bytes.count / 2, bytes.count - 1] {
        var altered = bytes
        altered[index] ^= 1
        bench.write(altered, name)
        let folder = try open(bench)
        let id = try #require(folder.state.withLock { $0.index.ids.first })
        #expect(!isFound(bench, folder) && folder.content(of: id) == nil && bench.entries.isEmpty)
      }
    }
  }

  @Test("A renamed file is a miss, and removed")
  func renamed() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, "/x", CacheWorld.update(), "of x")
      let name = try #require(bench.entries.first)
      await bench.put(store, "/y", CacheWorld.update(), "of y")
      let other = try #require(bench.entries.first { $0 != name })
      let bytes = bench.bytes(other)
      bench.write(bytes, name)
      let next = bench.store()
      #expect(await bench.texts(next, "/x").isEmpty && bench.entries == [other])
      #expect(await bench.texts(next, "/y") == ["of y"])
      // A name of another key, without the check that belongs to it.
      for position in [0, 40, 60, 90, 107] {
        var changed = Array(other.utf8)
        changed[position] = changed[position] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let name = String(decoding: changed, as: UTF8.self)
        bench.write(bytes, name)
        _ = try open(bench)
        // A file with a digit in place of the missing account's separator has no name of an entry.
        #expect(bench.names.contains(name) == (position == 40), "\(position)")
      }
    }
  }

  @Test("Random bytes as the file of an entry never trap")
  func randomFuzz() async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench)
      let format = try open(bench).format
      var generator = SystemRandomNumberGenerator()
      for _ in 0..<fuzzRounds(usually: 500) {
        var head = Array(bytes[EntryFormat.prefixLength...].dropLast(7))
        for _ in 0...Int.random(in: 0...3) {
          head[Int.random(in: head.indices)] = UInt8.random(in: 0...255, using: &generator)
        }
        if Bool.random() { head.removeLast(Int.random(in: 0..<head.count)) }
        _ = head.withUnsafeBytes { try? EntryHead($0) }
        var file = bytes
        file[Int.random(in: 0..<EntryFormat.prefixLength)] = UInt8.random(in: 0...255, using: &generator)
        bench.write(file, "file")
        let opened = try #require(try Folder(bench.path).existing("file", for: .reading, isPrivate: true))
        let found = try format.read(opened, name, completely: Bool.random())
        #expect(found == nil || file == bytes)
      }
    }
  }

  @Test("A file that others can access, a link and a folder with the name of an entry are misses")
  func foreignEntries() async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench)
      let files = FileManager.default
      try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bench.file(name))
      #expect(!isFound(bench, try open(bench)) && bench.entries.isEmpty)
      bench.write(bytes, "copy")
      try files.createSymbolicLink(atPath: bench.file(name), withDestinationPath: "copy")
      #expect(!isFound(bench, try open(bench)))
      try? files.removeItem(atPath: bench.file(name))
      try files.createDirectory(atPath: bench.file(name), withIntermediateDirectories: false)
      #expect(!isFound(bench, try open(bench)))
      try files.removeItem(atPath: bench.file(name))
      bench.write(bytes, name)
      #expect(isFound(bench, try open(bench)))
    }
  }

  @Test("Files that are no entries stay, also after everything was removed")
  func foreignFiles() async throws {
    try await FolderBench.with { bench in
      let (name, bytes) = try await stored(bench)
      let foreign = ["notes.txt", name + "x", String(name.dropLast()), name.uppercased(), "drafts"].sorted()
      for name in foreign { bench.write(bytes, name) }
      try FileManager.default.createDirectory(atPath: bench.file("folder"), withIntermediateDirectories: false)
      let store = bench.store()
      #expect(await bench.texts(store) == ["content"])
      await store.removeAll()
      #expect(bench.names == (foreign + ["folder", "state"]).sorted())
    }
  }

  // MARK: Drafts

  @Test("Drafts of dead processes are removed, those of living ones stay")
  func drafts() async throws {
    try await FolderBench.with { bench in
      _ = try await stored(bench)
      bench.write([1], "draft-1")
      let alive = try #require(try Folder(bench.path).make("draft-2"))
      #expect(try alive.lock())
      bench.write([1], "draft-3")
      // A process was killed after it had put the shared file in place.
      try FileManager.default.linkItem(atPath: bench.file("state"), toPath: bench.file("draft-4"))
      _ = try open(bench)
      #expect(bench.names.filter { $0.hasPrefix("draft") } == ["draft-2"])
      withExtendedLifetime(alive) {}
    }
  }

  // MARK: The shared file

  @Test("Without the key, or with a damaged one, all entries are unreadable and removed", arguments: 0..<6)
  func key(damage: Int) async throws {
    try await FolderBench.with { bench in
      _ = try await stored(bench)
      var bytes = bench.bytes("state")
      switch damage {
      case 0: try FileManager.default.removeItem(atPath: bench.file("state"))
      case 1: bench.write([], "state")
      case 2: bench.write(bytes + [0], "state")
      default:
        bytes[[7, 10, 70][damage - 3]] ^= 1
        bench.write(bytes, "state")
      }
      let store = bench.store()
      #expect(await bench.texts(store).isEmpty && bench.entries.isEmpty)
      #expect(await bench.put(store, CacheWorld.update(), "new"))
      #expect(await bench.texts(bench.store()) == ["new"])
    }
  }

  @Test("A damaged record of an invalidation invalidates all responses with groups")
  func record() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store, "/x", CacheWorld.update(groups: ["g"]))
      await bench.put(store, "/y")
      await store.invalidate(groups: ["h"])
      #expect(await bench.texts(bench.store(), "/x") == ["content"])
      var bytes = bench.bytes("state")
      bytes[256 + 3] ^= 1
      bench.write(bytes, "state")
      let other = bench.store()
      #expect(await bench.texts(other, "/x") == ["content*"])
      #expect(await bench.texts(other, "/y") == ["content"])
    }
  }

  @Test("A folder whose files are removed while it is open is created again")
  func removedFolder() async throws {
    try await FolderBench.with { bench in
      let store = bench.store()
      await bench.put(store)
      try FileManager.default.removeItem(atPath: bench.path)
      #expect(await bench.texts(store).isEmpty)
      // The first change notices the loss, and the next one creates the folder.
      await bench.put(store)
      #expect(await bench.put(store))
      #expect(await bench.texts(store) == ["content"])
      #expect(await bench.texts(bench.store()) == ["content"])
    }
  }

  // MARK: Access

  @Test("Folder and files are accessible to their owner only")
  func modes() async throws {
    try await FolderBench.with { bench in
      _ = try await stored(bench)
      #expect(bench.mode() == 0o700)
      for name in bench.names { #expect(bench.mode(name) == 0o600) }
    }
  }

  @Test(
    "In a folder that others can access, and with a file in its place, nothing is stored", arguments: [true, false])
  func inaccessible(isFolder: Bool) async throws {
    try await FolderBench.with { bench in
      let files = FileManager.default
      if isFolder {
        try files.createDirectory(
          atPath: bench.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      } else {
        _ = files.createFile(atPath: bench.path, contents: Data())
      }
      let store = bench.store()
      #expect(await store.subjects() == nil && store.problem != nil)
      #expect(await !bench.put(store))
      #expect(await bench.texts(store).isEmpty)
      #expect(await store.usage == 0 && bench.names.isEmpty)
      if isFolder { #expect(store.problem?.cause == .accessibleToOthers) }
      await store.removeAll()
      await store.invalidate(groups: ["g"])
      _ = store.begin()
      store.end()
      // When the reason is gone, the folder is opened after a second.
      try files.removeItem(atPath: bench.path)
      #expect(await !bench.put(store))
      bench.advance(1000)
      #expect(await bench.put(store))
      #expect(store.problem == nil)
    }
  }
}
#endif
