#if os(Linux)
import ApusCore
import ApusMiddleware
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ApusCredentials

@Suite("Errors of keyrings")
struct KeyringReasonTests {
  typealias Problem = CredentialsStoreError.Problem

  private let kernel = FakeKernel()

  private static let reasons: [(Int32, Problem)] = [
    (ENOKEY, .noKeyring), (EKEYREVOKED, .noKeyring), (EACCES, .notPermitted), (EDQUOT, .quotaExceeded),
    (ENOSYS, .noKeyrings), (EPERM, .noKeyrings), (ENOMEM, .system),
  ]

  @Test("Each error number has a reason, and the credentials stay unchanged", arguments: reasons)
  func writing(number: Int32, problem: Problem) async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      try await store.set(.token("kept"))
      let before = try store.current()
      kernel.state.withLock { $0.errors["add"] = number }
      let error = try #require(await keyringError { try await store.set(.token(Secret(DigestBench.sentinel))) })
      #expect(error.problem == problem && error.errno == number)
      #expect(error.description.contains("apus test") && !texts(of: error).contains(DigestBench.sentinel))
      kernel.state.withLock { $0.errors = [:] }
      #expect(try store.current() == before)
    }
  }

  @Test("A key that cannot be read fails the read", arguments: [(EACCES, Problem.notPermitted), (ENOSYS, .noKeyrings)])
  func reading(number: Int32, problem: Problem) async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      try await store.set(.token("kept"))
      for call in ["search", "read"] {
        kernel.state.withLock { $0.errors = [call: number] }
        #expect(await keyringError { _ = try store.current() }?.problem == problem)
      }
    }
  }

  @Test("A key of another program is never overwritten")
  func foreign() async throws {
    try await CredentialsFolder.with { place in
      _ = kernel.add("apus test", Array("something else".utf8), to: -3)
      let store = place.keyring(kernel)
      #expect(await keyringError { _ = try store.current() }?.problem == .unknownKeyFormat)
      #expect(await keyringError { try await store.set(.token("1")) }?.problem == .unknownKeyFormat)
      #expect(kernel.state.withLock { $0.keys.values.map(\.content) } == [Array("something else".utf8)])
    }
  }

  @Test("A name that the kernel would truncate is refused", arguments: ["", "a\0b"])
  func names(name: String) async throws {
    try await CredentialsFolder.with { place in
      #expect(await keyringError { _ = try place.keyring(kernel, name).current() }?.problem == .invalidName)
      #expect(await keyringError { try await place.keyring(kernel, name).set(.token("1")) }?.problem == .invalidName)
    }
  }

  @Test("A dump of the store contains no credentials")
  func secrets() async throws {
    try await CredentialsFolder.with { place in
      let store = place.keyring(kernel)
      try await store.set(.token(Secret(DigestBench.sentinel)))
      #expect(!texts(of: store).contains(DigestBench.sentinel))
      #expect(try !texts(of: store.current()).contains(DigestBench.sentinel))
    }
  }
}

@Suite(
  "Keyrings of this machine's kernel",
  .enabled(if: SystemKeys.refusal == nil, "the kernel refuses keyrings: \(SystemKeys.refusal ?? "")"))
struct SystemKeyringTests {
  @Test("Credentials are stored, shared between objects, refreshed and removed", arguments: [true, false])
  func whole(isSession: Bool) async throws {
    try await CredentialsFolder.with { place in
      let keyring: KeyringCredentialsStore.Keyring = isSession ? .session : .user
      let name = "apus-test-\(UUID())"
      // The key expires, so that no key is left if the test fails.
      let store = place.keyring(SystemKeys(), name, in: keyring, timeout: .seconds(60))
      #expect(try store.current().credential == nil)
      try await store.set(.tokens(Tokens(access: "a", refresh: "r", lifetime: .seconds(60))), account: "ada")
      let other = place.keyring(SystemKeys(), name, in: keyring, timeout: .seconds(60))
      let first = try other.current()
      #expect(try first == store.current())
      #expect(first.credential == .tokens(Tokens(access: "a", refresh: "r", lifetime: .seconds(60))))
      let long = Credential.token(Secret(String(repeating: "t", count: 6000)))
      #expect(try await other.refresh(first.generation, to: long))
      #expect(try store.current().credential == long && store.current().principal == first.principal)
      try await store.clear()
      #expect(try other.current().credential == nil)
      #expect(try other.current().generation == first.generation + 2)
    }
  }

  @Test("A key expires after its timeout")
  func expiry() async throws {
    try await CredentialsFolder.with { place in
      let name = "apus-test-\(UUID())"
      let lasting = place.keyring(SystemKeys(), name, timeout: .seconds(60))
      try await lasting.set(.token("1"))
      let old = try lasting.current()
      let store = place.keyring(ShortLivedKeys(), name, timeout: .seconds(60))
      #expect(try await store.refresh(old.generation, to: .token("2")))
      try await waitWhile(try store.current().credential != nil)
      #expect(try store.current().generation == old.generation + 2)
    }
  }
}

/// The kernel of this machine, with the shortest possible timeout of keys.
private struct ShortLivedKeys: KernelKeys {
  private let system = SystemKeys()

  func search(_ keyring: Int32, _ description: String) -> Int { system.search(keyring, description) }
  func read(_ key: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int { system.read(key, into: buffer) }
  func add(_ description: String, _ content: [UInt8], to keyring: Int32) -> Int {
    system.add(description, content, to: keyring)
  }
  func setPermissions(of key: Int32, _ permissions: UInt32) -> Int { system.setPermissions(of: key, permissions) }
  func setTimeout(of key: Int32, seconds: UInt32) -> Int { system.setTimeout(of: key, seconds: 1) }
}
#endif
