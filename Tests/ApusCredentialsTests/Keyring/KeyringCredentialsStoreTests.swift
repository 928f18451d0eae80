#if os(Linux)
import ApusFiles
import ApusTesting
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ApusCredentials
@testable import ApusMiddleware

@Suite("Credentials in a keyring")
struct KeyringCredentialsStoreTests {
  private let kernel = FakeKernel()

  @Test("A process that starts later reads the stored credentials", arguments: FileCredentialsStoreTests.kinds)
  func roundTrip(credential: Credential) async throws {
    try await CredentialsFolder.with { place in
      let first = place.keyring(kernel)
      try await first.set(credential)
      let (kept, read) = (try first.current(), try place.keyring(kernel).current())
      #expect(kept == read && read.credential == credential)
      try await first.clear()
      let cleared = try place.keyring(kernel).current()
      #expect(cleared.credential == nil && cleared.generation == kept.generation + 1)
    }
  }

  @Test("Without a key the store is signed out, and neither reading nor clearing adds a key")
  func nothing() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      #expect(try store.current() == StoredCredential(nil, generation: 0, principal: 0))
      #expect(!place.exists(place.folder))
      try await store.clear()
      #expect(try store.current() == StoredCredential(nil, generation: 0, principal: 0))
      #expect(kernel.state.withLock { $0.keys.isEmpty })
    }
  }

  @Test("The disk contains only empty lock files, which are accessible to their owner only")
  func disk() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel, "a/b ü")
      try await store.set(.token("token"))
      try await store.withLock {}
      let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder).sorted()
      let folder = "session-a%2fb%20%c3%bc"
      #expect(names == [folder, "\(folder)/lease", "\(folder)/write"])
      #expect(CredentialsFolder.mode(of: place.folder + "/" + folder) == 0o700)
      for name in names.dropFirst() {
        #expect(try place.bytes(place.folder + "/" + name).isEmpty)
        #expect(CredentialsFolder.mode(of: place.folder + "/" + name) == 0o600)
      }
    }
  }

  @Test("A refresh keeps principal and account; a sign-in or sign-out changes the principal")
  func counting() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      try await store.set(.token("1"), account: "ada")
      let first = try store.current()
      #expect(try await store.refresh(first.generation, to: .token("2")))
      let second = try store.current()
      #expect(second.credential == .token("2") && second.principal == first.principal)
      #expect(second.generation == first.generation + 1)
      try await place.keyring(kernel).set(.token("3"), account: "ada")
      #expect(try store.current().principal == first.principal)
      try await store.set(.token("4"), account: "bob")
      let fourth = try store.current()
      #expect(fourth.principal == first.principal + 1)
      #expect(try await store.refresh(fourth.generation, to: nil))
      let fifth = try store.current()
      #expect(fifth.credential == nil && fifth.principal == fourth.principal + 1)
    }
  }

  @Test("A refresh has no effect after another process has signed out or in", arguments: [String?.none, "other"])
  func overtaken(by token: String?) async throws {
    try await CredentialsFolder.with { place in
      let (mine, other) = (place.keyring(kernel), place.keyring(kernel))
      try await mine.set(.token("old"))
      let old = try mine.current()
      if let token { try await other.set(.token(Secret(token))) } else { try await other.clear() }
      for credential in [.token("new"), nil] as [Credential?] {
        #expect(try await !mine.refresh(old.generation, to: credential))
      }
      let now = try mine.current()
      #expect(try now == other.current())
      #expect(now.credential == token.map { .token(Secret($0)) } && now.principal != old.principal)
    }
  }

  @Test("A key that has expired or was removed signs out, and no generation or principal is used again")
  func lost() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      for error in [ENOKEY, EKEYEXPIRED, EKEYREVOKED] {
        try await store.set(.token("old"))
        let old = try store.current()
        kernel.state.withLock { $0.errors["search"] = error }
        let gone = try store.current()
        #expect(gone.credential == nil && gone.generation > old.generation && gone.principal > old.principal)
        #expect(try store.current() == gone)
        kernel.state.withLock { state in
          state.errors = [:]
          state.keys = [:]
        }
        place.wall.advance(by: 1)
        try await place.keyring(kernel).set(.token("new"))
        let new = try store.current()
        #expect(new.credential == .token("new"))
        #expect(new.generation > gone.generation && new.principal > gone.principal)
      }
    }
  }

  @Test("A key that vanishes between the search and the read is treated as missing")
  func vanished() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      try await store.set(.token("1"))
      kernel.state.withLock { $0.errors["read"] = EKEYREVOKED }
      #expect(try store.current().credential == nil)
    }
  }

  @Test("Long content is read completely, and calls that a signal interrupts are repeated")
  func long() async throws {
    try await CredentialsFolder.with { place in
      let token = Credential.token(Secret(String(repeating: "t", count: 30_000)))
      kernel.state.withLock { $0.interruptions = 2 }
      try await place.keyring(kernel).set(token)
      kernel.state.withLock { $0.interruptions = 3 }
      #expect(try place.keyring(kernel).current().credential == token)
      let large = Credential.token(Secret(String(repeating: "t", count: 33_000)))
      #expect(await keyringError { try await place.keyring(kernel).set(large) }?.problem == .tooLarge)
      #expect(try place.keyring(kernel).current().credential == token)
    }
  }

  @Test("Each write sets the timeout again, rounded up to whole seconds")
  func timeout() async throws {
    try await CredentialsFolder.with { place in
      let cases: [(Duration?, UInt32?)] = [
        (nil, nil), (.seconds(60), 60), (.milliseconds(1500), 2), (.zero, 1), (.seconds(-5), 1),
        (.seconds(Int64(UInt32.max) + 9), UInt32.max),
      ]
      for (timeout, expected) in cases {
        let store = place.keyring(kernel, timeout: timeout)
        try await store.set(.token("1"))
        #expect(try await store.refresh(store.current().generation, to: .token("2")))
        #expect(kernel.state.withLock { $0.keys.values.map(\.timeout) } == [expected])
      }
    }
  }

  @Test("A key in the session keyring has the kernel's permissions; the user's processes can access other keys")
  func permissions() async throws {
    try await CredentialsFolder.with { place in
      for keyring in KeyringCredentialsStore.Keyring.allCases {
        let kernel = FakeKernel()
        try await place.keyring(kernel, in: keyring).set(.token("1"))
        let expected: UInt32? = keyring == .session ? nil : 0x3F3F_0000
        #expect(kernel.state.withLock { $0.keys.values.map(\.permissions) } == [expected])
      }
    }
  }

  @Test("Each keyring and each key name has separate credentials")
  func separate() async throws {
    try await CredentialsFolder.with { place in
      for keyring in KeyringCredentialsStore.Keyring.allCases {
        for name in ["a", "b"] {
          #expect(try place.keyring(kernel, name, in: keyring).current().credential == nil)
          try await place.keyring(kernel, name, in: keyring).set(.token(Secret("\(keyring) \(name)")))
        }
      }
      #expect(try place.keyring(kernel, "a", in: .user).current().credential == .token("user a"))
    }
  }

  /// Starts a task that has the lease of a store until a gate opens.
  private func startLease(
    _ store: KeyringCredentialsStore, until gate: Gate, _ events: Log<String>
  ) async throws -> Task<Void, any Error> {
    let holder = Task {
      try await store.withLock {
        try await gate.wait()
        events.add("first")
      }
    }
    try await gate.waitForArrivals(1)
    return holder
  }

  @Test("If the file of a held lock is removed, a second task cannot acquire the lock")
  func removedLocks() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate, events) = (place.keyring(kernel), place.keyring(kernel), Gate(), Log<String>())
      let holder = try await startLease(first, until: gate, events)
      let folder = place.folder + "/session-apus%20test"
      try FileManager.default.removeItem(atPath: folder + "/lease")
      let waiter = Task { try await second.withLock { events.add("second") } }
      try await waitWhile(place.clock.sleepers == 0 && events.all.isEmpty)
      #expect(events.all.isEmpty)
      gate.open()
      try await holder.value
      place.clock.advance(by: .seconds(1))
      try await waiter.value
      #expect(events.all == ["first", "second"])

      try await first.set(.token("1"))
      let (own, outer) = (try Folder(folder), try Folder(place.folder))
      let locks = try await FileLocks.acquire("write", in: own, and: outer, place.pause)
      try FileManager.default.removeItem(atPath: folder + "/write")
      let writer = Task {
        try await second.set(.token("2"))
        events.add("written")
      }
      try await waitWhile(place.clock.sleepers == 0 && events.all.count == 2)
      events.add("released")
      locks.release()
      place.clock.advance(by: .seconds(1))
      try await writer.value
      #expect(events.all.suffix(2) == ["released", "written"])
    }
  }

  @Test("One task at a time refreshes, even if the tasks use different stores of the same key")
  func exclusive() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate, events) = (place.keyring(kernel), place.keyring(kernel), Gate(), Log<String>())
      let holder = try await startLease(first, until: gate, events)
      let waiter = Task { try await second.withLock { events.add("second") } }
      try await place.clock.waitForSleepers(1)
      // A write does not wait for the refresh.
      try await second.set(.token("1"))
      gate.open()
      try await holder.value
      place.clock.advance(by: .seconds(1))
      try await waiter.value
      #expect(events.all == ["first", "second"])
    }
  }

  @Test("Session changes by this process are notified immediately, changes by other processes when they are read")
  func notifications() async throws {
    try await CredentialsFolder.with { place in
      let (store, other) = (place.keyring(kernel), place.keyring(kernel))
      try await store.set(.token("1"))
      let events = Counter()
      let number = store.principalChanges?.observe { events.add() }
      try await store.set(.token("2"))
      #expect(events.value > 0)
      let before = events.value
      try await other.clear()
      #expect(events.value == before)
      _ = try store.current()
      #expect(events.value == before + 1)
      if let number { store.principalChanges?.remove(number) }
    }
  }
}

/// Returns the problem with a key; `nil` if the call succeeds. Any other error fails the test.
func keyringError(
  at location: SourceLocation = #_sourceLocation, _ call: () async throws -> Void
) async -> CredentialsStoreError? {
  do {
    try await call()
    return nil
  } catch let error as CredentialsStoreError {
    return error
  } catch {
    Issue.record(error, sourceLocation: location)
    return nil
  }
}
#endif
