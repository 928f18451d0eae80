#if Credentials
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
    /// itself, so a refresh never undoes a sign-out elsewhere. ``exclusively(_:)`` works within this process only: the
    /// Keychain has no lock that ends with a process, so an app and its extension can refresh at the same time. If a
    /// server ends a session over that, use ``FileCredentials`` in a folder of the app group.
    public final class KeychainCredentials: RefreshableCredentialSource, CustomReflectable {
      /// How often a replacement is repeated because another process was faster.
      private static let attempts = 16

      private let item: KeychainItem
      private let clocks: Clocks
      private let mutex = Turns()
      /// Notifies of sign-ins and sign-outs: by this process at once, by others when they are noticed.
      public let principalChanges: PrincipalChanges? = PrincipalChanges()
      private let held = Mutex<HeldRecord?>(nil)
      /// Held during a read or a replacement until the cache is updated, so that an older record never replaces a newer
      /// one in the cache.
      private let steps = Mutex(())

      /// Makes a store in one item, which is created when the first credentials are stored.
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

      /// The current credentials, as far as this process knows.
      ///
      /// - Throws: ``KeychainCredentialsError`` if they have not been read yet and cannot be read.
      public func current() throws -> StoredCredential {
        if let held = held.withLock({ $0 }) { return held.stored(clocks) }
        try reload()
        return (held.withLock { $0 } ?? HeldRecord(.empty, clocks)).stored(clocks)
      }

      /// Reads changes by other processes. Call it for example when the app becomes active.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func reload() throws {
        try steps.withLock { _ in hold(try state(of: item.read()).record) }
      }

      /// Replaces the credentials at a sign-in.
      ///
      /// An item that cannot be read, of a later version or of another program, is removed first, since users cannot
      /// remove it by hand. It stays if another process has replaced it meanwhile.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func set(_ credential: Credential) throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: credential, at: now) }
      }

      /// Replaces the credentials by those of a named account.
      ///
      /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
      /// with the new ones. Otherwise this is a sign-in, as with ``set(_:)``.
      ///
      /// - Parameter account: the name of the account, for example its id. It is stored in the item.
      /// - Throws: ``KeychainCredentialsError``.
      public func set(_ credential: Credential, account: String) throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: credential, at: now, account: account) }
      }

      /// Removes the credentials. The item stays, so that its generations go on; an unreadable one is removed as by
      /// ``set(_:)``.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func clear() throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: nil, at: now) }
      }

      /// Replaces or removes the credentials of a generation, if it is still the current one.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func refresh(_ generation: UInt64, to credential: Credential?) throws -> Bool {
        let now = clocks.wall
        return try replace(removingUnreadable: false) { present in
          present.generation == generation ? present.refreshed(to: credential, at: now) : nil
        }
      }

      /// Does work while no other user of this object refreshes the credentials, first come, first served, after
      /// reading changes by other processes. It is not reentrant: work that calls it again on this object deadlocks.
      ///
      /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits;
      ///   ``KeychainCredentialsError``.
      public func exclusively(_ work: @Sendable () async throws -> Void) async throws {
        try await mutex.exclusively {
          try reload()
          try await work()
        }
      }

      /// Shows nothing.
      public var customMirror: Mirror { Mirror(self, children: []) }

      // MARK: Item

      private func replace(
        removingUnreadable: Bool, _ next: (CredentialRecord) -> CredentialRecord?
      ) throws -> Bool {
        for _ in 0..<Self.attempts {
          let outcome = try steps.withLock { _ in try attempt(removingUnreadable: removingUnreadable, next) }
          if let outcome { return outcome }
        }
        throw KeychainCredentialsError(errSecDuplicateItem)
      }

      /// - Returns: whether the credentials were replaced; `nil`: another process was faster.
      private func attempt(
        removingUnreadable: Bool, _ next: (CredentialRecord) -> CredentialRecord?
      ) throws -> Bool? {
        let content = try item.read()
        let present: (record: CredentialRecord, isThere: Bool)
        do throws(KeychainCredentialsError) {
          present = try state(of: content)
        } catch {
          // Users can remove a file, but not a Keychain item.
          guard removingUnreadable, let content else { throw error }
          try item.remove(content)
          return nil
        }
        guard var new = next(present.record) else {
          hold(present.record)
          return false
        }
        if !present.isThere { new = new.counted(from: clocks.wall, random: UInt64.random(in: .min ... .max)) }
        let bytes = try new.encoded()
        let isKept =
          try present.isThere
          ? item.replace(present.record.generation, by: bytes, generation: new.generation)
          : item.add(bytes, generation: new.generation)
        guard isKept else { return nil }
        hold(new)
        return true
      }

      /// The record of an item's content, and whether there is an item.
      private func state(
        of content: KeychainItem.Content?
      ) throws(KeychainCredentialsError) -> (record: CredentialRecord, isThere: Bool) {
        guard let content else { return ((held.withLock { $0 }?.record ?? .empty).lost, false) }
        guard let record = content.bytes.flatMap({ CredentialRecord($0) }) else {
          throw KeychainCredentialsError(errSecDecode)
        }
        return (record, true)
      }

      private func hold(_ record: CredentialRecord) {
        let new = HeldRecord(record, clocks)
        let old = held.withLock { held in
          defer { held = new }
          return held
        }
        if let old, old.record.principal != record.principal { principalChanges?.notify() }
      }
    }
  #endif
#endif
