#if os(Linux)
import ApusCore
public import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A credentials store in a keyring of the Linux kernel. The processes of a login session can share the store.
///
/// ```swift
/// let tokens = KeyringCredentialsStore("com.example.tool", locks: "/run/user/1000/tool")
/// let api = Client(baseURL: "https://api.example.com/v1") { $0.authentication = .bearer(tokens) }
/// try await tokens.set(.token("mF_9.B5f-4.1JqM"))
/// ```
///
/// The credentials are in the kernel's memory only, never on a disk. All credentials are lost after a restart.
/// Credentials in the session keyring are also lost when the session's last process has ended. The credentials are not
/// encrypted: processes that may read the key, and the superuser, can read them.
///
/// Changes by other processes take effect immediately: each use reads the key, with two system calls. Empty lock files
/// make replacing and refreshing exclusive between processes. Each key has a folder for its lock files, below a folder
/// that only its owner can access, such as a folder in `$XDG_RUNTIME_DIR`. Do not remove the folder of a key while a
/// process runs.
///
/// The size of a user's keys is limited (`/proc/sys/kernel/keys/maxbytes`), by default to 20,000 bytes. Containers
/// often do not permit keyrings: the store then throws ``CredentialsStoreError`` with the reason `unavailable`.
public final class KeyringCredentialsStore: RefreshableCredentialsStore, CustomReflectable {
  /// The keyrings of the kernel (`keyrings(7)`).
  public enum Keyring: Sendable, Hashable, CaseIterable {
    /// The keyring of the login session. The session ends with its last process. A key with the same name in a linked
    /// keyring, often the user's keyring, is found as well.
    case session
    /// The keyring that is shared by all sessions of a user that have no session keyring.
    case userSession
    /// The keyring that all processes of a user share, until the last of them has ended.
    case user
  }

  /// The dependencies that tests replace.
  struct Dependencies: Sendable {
    var clocks = Clocks(clock: SystemClock(), date: { Date() })
    var kernel: any KernelKeys = SystemKeys()
    /// Returns 64 random bits.
    var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  }

  /// The content of the key when it was last read or written.
  private struct Memory {
    var cached: CachedRecord?
    /// The content of the key; `nil` if the key did not exist.
    var content: [UInt8]?
  }

  private let key: KeyringKey
  private let locks: StoreLocks
  private let dependencies: Dependencies
  private let memory = Mutex(Memory())
  /// Notifies of sign-ins and sign-outs: of this process immediately, of other processes when the key is read.
  public let principalChanges: PrincipalChangeNotifier? = PrincipalChangeNotifier()

  /// Creates a store in a key, which is added when the first credentials are stored. Neither the keyring nor the folder
  /// is accessed before the first use.
  ///
  /// - Parameters:
  ///   - name: the description of the key, for example the identifier of the tool. Use a different name for each of
  ///     several accounts.
  ///   - keyring: the keyring. Default: ``Keyring/session``.
  ///   - locks: the path of the folder that contains a folder of lock files for each key. A missing folder is created.
  ///   - timeout: the time after which stored or refreshed credentials expire, in whole seconds and at least one
  ///     second. The store is then signed out. Default: `nil`, they never expire.
  public convenience init(
    _ name: String, in keyring: Keyring = .session, locks: String, timeout: Duration? = nil
  ) {
    self.init(KeyringPlace(name: name, keyring: keyring, locks: locks, timeout: timeout), dependencies: Dependencies())
  }

  init(_ place: KeyringPlace, dependencies: Dependencies) {
    key = KeyringKey(
      description: place.name, keyring: place.keyring, kernel: dependencies.kernel, timeout: place.seconds)
    locks = StoreLocks(place.lockFolder, dependencies.clocks)
    self.dependencies = dependencies
  }

  /// Returns the current credentials, which are read from the key.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func current() throws -> StoredCredential {
    try changing { memory throws(CredentialsStoreError) in try read(&memory).stored(dependencies.clocks) }
  }

  /// Replaces the credentials at a sign-in.
  ///
  /// - Throws: ``CredentialsStoreError``, also for the lock files; nothing has changed in that case.
  ///   `CancellationError` when the task is cancelled while another process writes.
  public func set(_ credential: Credential) async throws {
    _ = try await perform(.signIn(credential, at: dependencies.clocks.wall))
  }

  /// Replaces the credentials with those of a named account.
  ///
  /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
  /// with the new credentials. Otherwise this is a sign-in, as with ``set(_:)``.
  ///
  /// - Parameters:
  ///   - credential: the new credentials.
  ///   - account: the name of the account, for example its id. The name is stored in the key.
  /// - Throws: the same errors as ``set(_:)``.
  public func set(_ credential: Credential, account: String) async throws {
    _ = try await perform(.signIn(credential, account: account, at: dependencies.clocks.wall))
  }

  /// Removes the credentials. The key stays, so that generations keep increasing; a missing key is not added.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func clear() async throws {
    _ = try await perform(.signOut(at: dependencies.clocks.wall))
  }

  /// Replaces or removes the credentials of a generation, if the key still contains that generation. Another process
  /// may have written the key last.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool {
    try await perform(.refresh(generation, to: credential, at: dependencies.clocks.wall))
  }

  /// Performs an operation under the exclusive lease of these credentials: meanwhile, no other task or process
  /// refreshes them.
  ///
  /// A waiting process polls for the lease, with delays of up to 100 ms. The system releases the lease of a process
  /// that dies. The lease is not reentrant: an operation that requests it again, through this object or another store
  /// of the same key, deadlocks. The operation may use all other methods.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits;
  ///   ``CredentialsStoreError`` for the lock files.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await locks.withLease(work)
  }

  /// An empty mirror, so that dumps contain no secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }

  // MARK: Key

  /// Returns whether a record was written.
  private func perform(_ change: RecordChange) async throws -> Bool {
    let isWritten = try await locks.withWrite {
      try changing { memory in
        let present = try read(&memory).record
        let isStored = memory.content != nil
        guard change.createsStore || isStored,
          let new = change.record(after: present, isStored: isStored, dependencies.clocks, random: dependencies.random)
        else { return false }
        let content = Array(try new.encoded())
        try key.write(content)
        memory = Memory(cached: CachedRecord(new, dependencies.clocks), content: content)
        return true
      }
    }
    if change.changesPrincipal { principalChanges?.notify() }
    return isWritten
  }

  private func read(_ memory: inout Memory) throws(CredentialsStoreError) -> CachedRecord {
    let content = try key.content()
    if let cached = memory.cached, memory.content == content { return cached }
    let record: CredentialRecord
    if let content {
      guard let read = CredentialRecord(Data(content)) else { throw key.error(.unknownKeyFormat, nil) }
      record = read
    } else {
      record = (memory.cached?.record ?? .empty).lost
    }
    let cached = CachedRecord(record, dependencies.clocks)
    memory = Memory(cached: cached, content: content)
    return cached
  }

  /// Changes the memory, and notifies of a changed principal after the memory is unlocked.
  private func changing<Value, Failure: Error>(
    _ change: (inout Memory) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var isChanged = false
    defer { if isChanged { principalChanges?.notify() } }
    return try memory.withLock { memory throws(Failure) in
      let old = memory.cached?.record.principal
      defer { isChanged = old.map { $0 != memory.cached?.record.principal } ?? false }
      return try change(&memory)
    }
  }
}

/// The key of a store and its lock files.
struct KeyringPlace {
  let name: String
  let keyring: KeyringCredentialsStore.Keyring
  /// The folder that contains a folder of lock files for each key.
  let locks: String
  let timeout: Duration?

  /// The timeout in whole seconds, rounded up.
  var seconds: UInt32? {
    timeout.map { timeout in
      let (seconds, rest) = timeout.components
      return UInt32(clamping: max(1, seconds + (rest > 0 ? 1 : 0)))
    }
  }

  /// The path of the folder of the lock files. Characters of the name other than ASCII letters, ASCII digits, `.`, `-`
  /// and `_` are written as hexadecimal digits.
  var lockFolder: String {
    var file = "\(keyring.prefix)-"
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        file.unicodeScalars.append(Unicode.Scalar(byte))
      default: file += "%" + DigestText.hexadecimal(byte)
      }
    }
    return locks + "/" + file
  }
}
#endif
