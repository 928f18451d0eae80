import ApusFiles
import ApusMiddleware
import Foundation
import Synchronization
import Testing

@testable import ApusCredentials

@Suite("Replacing a file atomically")
struct ReplacingTests {
  private struct DiskFull: Error {}

  /// A disk that fails at a chosen step.
  private final class Disk: Sendable {
    private let failing = Mutex<Folder.Step?>(nil)

    func fail(at step: Folder.Step?) {
      failing.withLock { $0 = step }
    }

    @Sendable func reached(_ step: Folder.Step) throws {
      if failing.withLock({ $0 }) == step { throw DiskFull() }
    }
  }

  @Test("A failed step leaves the old content until the file is replaced", arguments: Folder.Step.allCases)
  func steps(step: Folder.Step) async throws {
    try await CredentialsFolder.with { place in
      let disk = Disk()
      let store = place.store(reached: disk.reached)
      try await store.set(.token("old"))
      let (old, whole) = (try await store.current(), try place.bytes())
      disk.fail(at: step)
      await #expect(throws: DiskFull.self) {
        _ = try await store.refresh(old.generation, to: .token("new"))
      }
      #expect(!place.exists(place.draft))
      let (mine, theirs) = (try await store.current(), try await place.store().current())
      #expect(mine == theirs)
      #expect(mine.credential == .token(step == .replaced ? "new" : "old"))
      #expect((try place.bytes() == whole) == (step != .replaced))
      disk.fail(at: nil)
      // The refresh is repeated. It has no effect if the new file was already in place.
      let isRefreshed = try await store.refresh(old.generation, to: .token("new"))
      #expect(isRefreshed == (step != .replaced))
      let kept = try await place.store().current()
      #expect(kept.credential == .token("new") && kept.generation == old.generation + 1)
    }
  }

  @Test("If the first credentials cannot be stored, no file is left")
  func first() async throws {
    try await CredentialsFolder.with { place in
      let disk = Disk()
      let store = place.store(reached: disk.reached)
      disk.fail(at: .written)
      await #expect(throws: DiskFull.self) { try await store.set(.token("token")) }
      let stored = try await store.current()
      #expect(stored.credential == nil)
      #expect(!place.exists(place.file) && !place.exists(place.draft))
    }
  }

  @Test("The draft of a dead process is overwritten by the next write, or removed by the next refresh")
  func leftBehind() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      try place.put([1, 2, 3], in: place.draft)
      let kept = try await place.store().current()
      #expect(kept.credential == .token("old"))
      try await store.set(.token("new"))
      #expect(!place.exists(place.draft))
      try place.put([1, 2, 3], in: place.draft)
      try await store.withLock { #expect(!place.exists(place.draft)) }
      let stored = try await place.store().current()
      #expect(stored.credential == .token("new"))
    }
  }

  @Test("If the new file cannot be created, the old file stays")
  func blocked() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      #expect(mkdir(place.draft, 0o700) == 0)
      let found = await reason { try await store.set(.token("new")) }
      #expect(found == .system)
      for store in [store, place.store()] {
        let stored = try await store.current()
        #expect(stored.credential == .token("old"))
      }
      #expect(rmdir(place.draft) == 0)
      try await store.set(.token("new"))
      let stored = try await store.current()
      #expect(stored.credential == .token("new"))
    }
  }

  @Test("A link in place of the new file is removed, not followed")
  func linked() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("old"))
      let target = place.folder + "/target"
      try place.put([1, 2, 3], in: target)
      #expect(symlink(target, place.draft) == 0)
      try await store.set(.token("new"))
      #expect(try place.bytes(target) == [1, 2, 3])
      let stored = try await place.store().current()
      #expect(stored.credential == .token("new"))
    }
  }
}
