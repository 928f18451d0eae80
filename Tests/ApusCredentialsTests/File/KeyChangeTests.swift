import ApusMiddleware
import Foundation
import Synchronization
import Testing

@testable import ApusCredentials

@Suite("Credentials files and keys that change on disk")
struct KeyChangeTests {
  @Test("After both files were removed the next write uses a new key")
  func bothRemoved() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      let old = try place.bytes(place.keyFile)
      try FileManager.default.removeItem(atPath: place.file)
      try FileManager.default.removeItem(atPath: place.keyFile)
      try await store.set(.token("new"))
      #expect(try place.bytes(place.keyFile) != old)
      let (mine, theirs) = (try await store.current(), try await place.store().current())
      #expect(mine == theirs && theirs.credential == .token("new"))
    }
  }

  @Test("After another process has recreated both files, they are read and written with the new key")
  func bothReplaced() async throws {
    try await CredentialsFolder.with { place in
      let (reader, writer) = (place.store(), place.store())
      try await place.store().set(.token("old"))
      for store in [reader, writer] { _ = try await store.current() }
      try FileManager.default.removeItem(atPath: place.file)
      try FileManager.default.removeItem(atPath: place.keyFile)
      try await place.store().set(.token("new"))
      let read = try await reader.current()
      #expect(read.credential == .token("new"))
      try await writer.set(.token("newer"))
      for store in [reader, writer, place.store()] {
        let stored = try await store.current()
        #expect(stored.credential == .token("newer"))
      }
    }
  }

  @Test("No file is sealed with a key that no longer exists, and the credentials in memory still work")
  func keyRemoved() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      let (old, whole) = (try await store.current(), try place.bytes())
      try FileManager.default.removeItem(atPath: place.keyFile)
      let missing = await reason { try await store.set(.token("new")) }
      #expect(missing == .keyMissing)
      try place.put(Array("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".utf8), in: place.keyFile)
      let other = await reason { _ = try await store.refresh(old.generation, to: .token("new")) }
      #expect(other == .wrongKeyOrDamaged)
      #expect(try place.bytes() == whole)
      let now = try await store.current()
      #expect(now == old)
    }
  }

  @Test(
    "A key with the path of the credentials, or of a related file, is refused, however the path is written",
    arguments: ["credentials", "credentials.new", "credentials.lock", "credentials.lease", "Credentials"])
  func amongCredentials(name: String) async throws {
    try await CredentialsFolder.with { place in
      for path in [place.folder + "/" + name, place.folder + "/../private/./" + name] {
        let store = place.store(key: .file(path))
        let written = await reason { try await store.set(.token("token")) }
        let refreshed = await reason { try await store.withLock {} }
        let read = await reason { _ = try await store.current() }
        #expect(written == .keyPathCollision && refreshed == .keyPathCollision && read == .keyPathCollision)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder).isEmpty)
      // In another folder the name is not taken.
      let elsewhere = place.folder + "-keys/" + name
      try await place.store(key: .file(elsewhere)).set(.token("token"))
      #expect(place.exists(elsewhere))
    }
  }
}

@Suite("Missing credentials files")
struct MissingFileTests {
  /// An action that is performed once.
  private final class Once: Sendable {
    private let action = Mutex<(@Sendable () async throws -> Void)?>(nil)

    func will(_ new: @escaping @Sendable () async throws -> Void) {
      action.withLock { $0 = new }
    }

    @Sendable func run() async throws {
      let next = action.withLock { action in
        defer { action = nil }
        return action
      }
      if let next { try await next() }
    }
  }

  @Test("A reader that found no file does not discard what another task has stored since")
  func keptMeanwhile() async throws {
    try await CredentialsFolder.with { place in
      let once = Once()
      let clocks = Clocks(clock: place.clock, date: { Date(timeIntervalSince1970: 1_790_000_000) })
      var dependencies = FileCredentialsStore.Dependencies(clocks: clocks)
      dependencies.missed = { try await once.run() }
      let store = FileCredentialsStore(at: place.file, key: .file(place.keyFile), dependencies: dependencies)
      once.will { try await store.set(.token("new")) }
      let (first, second) = (try await store.current(), try await store.current())
      let kept = try await place.store().current()
      #expect(first.credential == .token("new"))
      #expect(first == second && second == kept)
    }
  }

  @Test("Signing out without a file creates no file and no folder")
  func clearing() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.clear()
      #expect(!place.exists(place.folder))
      try await store.set(.token("token"))
      let old = try await store.current()
      try FileManager.default.removeItem(atPath: place.file)
      try await store.clear()
      #expect(!place.exists(place.file))
      let gone = try await store.current()
      #expect(gone.credential == nil && gone.generation > old.generation && gone.principal != old.principal)
    }
  }
}
