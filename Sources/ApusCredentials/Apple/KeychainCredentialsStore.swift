#if canImport(Security)
import ApusCore
public import ApusMiddleware
import Foundation
import Security
import Synchronization

/// A credentials store in the Keychain of Apple platforms: a generic password that stays on this device and can be
/// read after the first unlock.
///
/// This code is type-checked on Linux against stubs of the Keychain API; the tests that run there do not run it.
///
/// The record that was last read or written is cached, since a Keychain query takes about a millisecond. A change
/// by another process, such as an extension of the app with the same access group, is noticed when a refresh
/// begins, when credentials are replaced, and by ``reload()``. Replacing compares generations in the Keychain
/// itself, so a refresh never undoes a sign-out elsewhere. ``withLock(_:)`` works within this process only: the
/// Keychain has no lock that ends with a process, so an app and its extension can refresh concurrently. If the
/// server ends the session in that case, use ``FileCredentialsStore`` in a folder of the app group.
public final class KeychainCredentialsStore: RefreshableCredentialsStore, CustomReflectable {
  /// The maximum number of attempts at a replacement when other processes are faster.
  private static let attempts = 16

  private let item: KeychainItem
  private let clocks: Clocks
  private let mutex = AsyncMutex()
  /// Notifies of sign-ins and sign-outs: by this process immediately, by others when they are noticed.
  public let principalChanges: PrincipalChangeNotifier? = PrincipalChangeNotifier()
  private let held = Mutex<HeldRecord?>(nil)
  /// Held during a read or a replacement until the cache is updated, so that an older record never replaces a newer
  /// record in the cache.
  private let steps = Mutex(())

  /// Creates a store in a Keychain item, which is created when the first credentials are stored.
  ///
  /// - Parameters:
  ///   - service: the item's service, for example the app's bundle identifier.
  ///   - account: the item's account; use a different one for each of several accounts.
  ///   - accessGroup: the Keychain access group or app group that shares the item. Default: the app's own.
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
    if let held = held.withLock({ $0 }) { return held.stored(clocks) }
    try reload()
    return (held.withLock { $0 } ?? HeldRecord(.empty, clocks)).stored(clocks)
  }

  /// Reads changes by other processes. Call it for example when the app becomes active.
  ///
  /// - Throws: ``CredentialsStoreError``.
  public func reload() throws {
    try steps.withLock { _ in cache(try state(of: item.read()).record) }
  }

  /// Replaces the credentials at a sign-in.
  ///
  /// An item that cannot be read, since it is of a later version or of another program, is removed first, since
  /// users cannot remove it by hand. It stays if another process has replaced it in the meantime.
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
  /// - Parameter account: the name of the account, for example its id. It is stored in the item.
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

  /// Does work while no other caller refreshes the credentials of this object, after reading changes by other
  /// processes. Callers wait in order of arrival. It is not reentrant: work that calls it again on this object
  /// deadlocks.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits;
  ///   ``CredentialsStoreError``.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await mutex.withLock {
      try reload()
      try await work()
    }
  }

  /// Shows nothing.
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

  /// - Returns: whether the credentials were replaced; `nil`: another process was faster.
  private func attempt(_ change: RecordChange) throws -> Bool? {
    let content = try item.read()
    let present: (record: CredentialRecord, isThere: Bool)
    do throws(CredentialsStoreError) {
      present = try state(of: content)
    } catch {
      // Users can remove a file, but not a Keychain item.
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

  /// The record of an item's content, and whether there is an item.
  private func state(
    of content: KeychainItem.Content?
  ) throws(CredentialsStoreError) -> (record: CredentialRecord, isThere: Bool) {
    guard let content else { return ((held.withLock { $0 }?.record ?? .empty).lost, false) }
    guard let record = content.bytes.flatMap({ CredentialRecord($0) }) else {
      throw CredentialsStoreError(keychain: errSecDecode)
    }
    return (record, true)
  }

  private func cache(_ record: CredentialRecord) {
    let new = HeldRecord(record, clocks)
    let old = held.withLock { held in
      defer { held = new }
      return held
    }
    if let old, old.record.principal != record.principal { principalChanges?.notify() }
  }
}
#endif
