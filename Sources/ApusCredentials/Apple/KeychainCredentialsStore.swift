#if canImport(Security)
import ApusCore
public import ApusMiddleware
import Foundation
import Security
import Synchronization

/// A credentials store in the Keychain of Apple platforms: a generic password that stays on this device and can be
/// read after the first unlock.
///
/// On Linux this code is type-checked against stubs of the Keychain API, but not run.
///
/// The record that was last read or written is cached, since a Keychain query takes about a millisecond. A change by
/// another process, such as an extension of the app with the same access group, is noticed when a refresh begins, when
/// credentials are replaced, and by ``reload()``. Replacing compares generations in the Keychain itself, so a refresh
/// never undoes a sign-out by another process. ``withLock(_:)`` works within this process only: the Keychain has no
/// lock that ends with a process, so an app and its extension can refresh concurrently. If the server ends the session
/// in that case, use ``FileCredentialsStore`` in a folder of the app group.
public final class KeychainCredentialsStore: RefreshableCredentialsStore, CustomReflectable {
  /// The maximum number of attempts at a replacement while other processes keep changing the item.
  private static let attempts = 16

  private let item: KeychainItem
  private let clocks: Clocks
  private let mutex = AsyncMutex()
  /// Notifies of sign-ins and sign-outs: of this process immediately, of other processes when they are noticed.
  public let principalChanges: PrincipalChangeNotifier? = PrincipalChangeNotifier()
  private let cached = Mutex<CachedRecord?>(nil)
  /// Held during a read or a replacement until the cache is updated, so that an older record never replaces a newer
  /// record in the cache.
  private let steps = Mutex(())

  /// Creates a store in a Keychain item, which is created when the first credentials are stored.
  ///
  /// - Parameters:
  ///   - service: the item's service, for example the app's bundle identifier.
  ///   - account: the item's account. Use a different value for each of several accounts.
  ///   - accessGroup: the Keychain access group or app group that shares the item. Default: the app's own group.
  public convenience init(service: String, account: String, accessGroup: String? = nil) {
    self.init(
      KeychainItem(service: service, account: account, accessGroup: accessGroup),
      Clocks(clock: SystemClock(), date: { Date() }))
  }

  init(_ item: KeychainItem, _ clocks: Clocks) {
    self.item = item
    self.clocks = clocks
  }

  /// Returns the credentials that this process last read or wrote.
  ///
  /// - Throws: ``CredentialsStoreError`` if they have not been read yet and cannot be read.
  public func current() throws -> StoredCredential {
    if let cached = cached.withLock({ $0 }) { return cached.stored(clocks) }
    try reload()
    return (cached.withLock { $0 } ?? CachedRecord(.empty, clocks)).stored(clocks)
  }

  /// Reads changes by other processes. Call this method, for example, when the app becomes active.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func reload() throws {
    try steps.withLock { _ in cache(try state(of: item.read()).record) }
  }

  /// Replaces the credentials at a sign-in.
  ///
  /// An item that cannot be read, because a later version or another program has written it, is removed first, because
  /// users cannot remove Keychain items themselves. The item stays if another process has replaced it in the meantime.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func set(_ credential: Credential) throws {
    _ = try perform(.signIn(credential, at: clocks.wall))
  }

  /// Replaces the credentials with those of a named account.
  ///
  /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
  /// with the new credentials. Otherwise this is a sign-in, as with ``set(_:)``.
  ///
  /// - Parameter account: the name of the account, for example its id. The name is stored in the item.
  /// - Throws: ``CredentialsStoreError``.
  public func set(_ credential: Credential, account: String) throws {
    _ = try perform(.signIn(credential, account: account, at: clocks.wall))
  }

  /// Removes the credentials. The item stays, so that generations keep increasing; an unreadable item is removed as
  /// by ``set(_:)``.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func clear() throws {
    _ = try perform(.signOut(at: clocks.wall))
  }

  /// Replaces or removes the credentials of a generation, if that generation is still current.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func refresh(_ generation: UInt64, to credential: Credential?) throws -> Bool {
    try perform(.refresh(generation, to: credential, at: clocks.wall))
  }

  /// Performs an operation while no other caller refreshes the credentials of this object, after reading changes by
  /// other processes. Callers wait in order of arrival. The lock is not reentrant: an operation that acquires it again
  /// on this object deadlocks.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits;
  ///   ``CredentialsStoreError``.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await mutex.withLock {
      try reload()
      try await work()
    }
  }

  /// An empty mirror, so that dumps contain no secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }

  // MARK: Item

  /// Returns whether a record was written.
  private func perform(_ change: RecordChange) throws -> Bool {
    for _ in 0..<Self.attempts {
      guard let isWritten = try steps.withLock({ _ in try attempt(change) }) else { continue }
      if change.changesPrincipal { principalChanges?.notify() }
      return isWritten
    }
    throw CredentialsStoreError(keychain: errSecDuplicateItem)
  }

  /// - Returns: whether the credentials were replaced; `nil` if another process changed the item meanwhile.
  private func attempt(_ change: RecordChange) throws -> Bool? {
    let content = try item.read()
    let present: (record: CredentialRecord, isThere: Bool)
    do throws(CredentialsStoreError) {
      present = try state(of: content)
    } catch {
      // Removes an unreadable item, because users cannot delete Keychain items themselves.
      guard change.changesPrincipal, let content else { throw error }
      try item.remove(content)
      return nil
    }
    let random = { UInt64.random(in: .min ... .max) }
    guard let new = change.record(after: present.record, isStored: present.isThere, clocks, random: random) else {
      cache(present.record)
      return false
    }
    let bytes = try new.encoded()
    let isKept =
      try present.isThere
      ? item.replace(present.record.generation, by: bytes, generation: new.generation)
      : item.add(bytes, generation: new.generation)
    guard isKept else { return nil }
    cache(new)
    return true
  }

  /// Returns the record in an item's content, and whether the item exists.
  private func state(
    of content: KeychainItem.Content?
  ) throws(CredentialsStoreError) -> (record: CredentialRecord, isThere: Bool) {
    guard let content else { return ((cached.withLock { $0 }?.record ?? .empty).lost, false) }
    guard let record = content.bytes.flatMap({ CredentialRecord($0) }) else {
      throw CredentialsStoreError(keychain: errSecDecode)
    }
    return (record, true)
  }

  private func cache(_ record: CredentialRecord) {
    let new = CachedRecord(record, clocks)
    let old = cached.withLock { cached in
      defer { cached = new }
      return cached
    }
    if let old, old.record.principal != record.principal { principalChanges?.notify() }
  }
}
#endif
