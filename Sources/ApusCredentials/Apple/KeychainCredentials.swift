#if Credentials
  #if canImport(Security)
    import ApusCore
    public import ApusMiddleware
    import Foundation
    import Security
    import Synchronization

    /// Keeps credentials in the Keychain of Apple's systems, as a generic password that stays on this device and can be
    /// read once it has been unlocked after its start.
    ///
    /// This code is type-checked on Linux against stand-ins for the Keychain's names; the tests that run there do not run
    /// it.
    ///
    /// What was read or written last is held in memory, since asking the Keychain takes about a millisecond. So what
    /// another process has changed, such as an extension of the app that shares the access group, is seen when a refresh
    /// begins and when something is replaced, and else after ``reload()``. Replacing compares generations in the Keychain
    /// itself, so a sign-out elsewhere is never undone by a refresh here. ``exclusively(_:)`` holds within this process
    /// alone: the Keychain knows no lock that ends with a process, so an app and its extension can ask for new tokens at
    /// the same time. Where a server ends a session over that, use ``FileCredentials`` in a folder of the app group.
    public final class KeychainCredentials: RefreshableCredentialSource, CustomReflectable {
      /// How often a replacing begins anew because somebody else was quicker.
      private static let attempts = 16

      private let item: KeychainItem
      private let clocks: Clocks
      private let turns = Turns()
      /// Tells who wants to know of sign-ins and sign-outs: of this process at once, of others when they are noticed.
      public let principalChanges: PrincipalChanges? = PrincipalChanges()
      private let held = Mutex<HeldRecord?>(nil)
      /// Held while the item is read or replaced and what came of it is taken in: what was read before is not held after
      /// what was written since.
      private let steps = Mutex(())

      /// Keeps credentials in one item, which is made when the first are kept.
      ///
      /// - Parameters:
      ///   - service: the item's service, for example the app's bundle identifier.
      ///   - account: the item's account; another one for each of several accounts.
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

      /// The credentials there are now, as far as this process knows.
      ///
      /// - Throws: ``KeychainCredentialsError`` where they have not been read yet and cannot be.
      public func current() throws -> StoredCredential {
        if let held = held.withLock({ $0 }) { return held.stored(clocks) }
        try reload()
        return (held.withLock { $0 } ?? HeldRecord(.empty, clocks)).stored(clocks)
      }

      /// Reads what other processes may have changed: call it for example when the app comes to the front.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func reload() throws {
        try steps.withLock { _ in hold(try state(of: item.read()).record) }
      }

      /// Replaces the credentials.
      ///
      /// An item that cannot be read is removed first, since nobody can remove it by hand: one of a later version, or of
      /// another program. One that somebody else has replaced meanwhile stays.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func set(_ credential: Credential) throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: credential, at: now) }
      }

      /// Replaces the credentials by those of an account.
      ///
      /// Where the present credentials were set for the same account, the principal stays the same: calls that wait go
      /// out with the new ones. Otherwise somebody has signed in, as with ``set(_:)``.
      ///
      /// - Parameter account: names the account, for example by its id. It is kept in the item.
      /// - Throws: ``KeychainCredentialsError``.
      public func set(_ credential: Credential, account: String) throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: credential, at: now, account: account) }
      }

      /// Removes the credentials. The item stays and counts on; one that cannot be read is removed as by ``set(_:)``.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func clear() throws {
        let now = clocks.wall
        _ = try replace(removingUnreadable: true) { $0.replaced(by: nil, at: now) }
      }

      /// Replaces the credentials of a generation, or removes them, if it is still there.
      ///
      /// - Throws: ``KeychainCredentialsError``.
      public func refresh(_ generation: UInt64, to credential: Credential?) throws -> Bool {
        let now = clocks.wall
        return try replace(removingUnreadable: false) { present in
          present.generation == generation ? present.refreshed(to: credential, at: now) : nil
        }
      }

      /// Does work while nobody else who shares this object refreshes its credentials, in the order in which they came;
      /// reads before what other processes may have changed.
      ///
      /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits;
      ///   ``KeychainCredentialsError``. Work that does further work exclusively with this object waits for ever.
      public func exclusively(_ work: @Sendable () async throws -> Void) async throws {
        try await turns.exclusively {
          try reload()
          try await work()
        }
      }

      /// Shows nothing.
      public var customMirror: Mirror { Mirror(self, children: []) }

      // MARK: The item

      private func replace(
        removingUnreadable: Bool, _ next: (CredentialRecord) -> CredentialRecord?
      ) throws -> Bool {
        for _ in 0..<Self.attempts {
          let outcome = try steps.withLock { _ in try attempt(removingUnreadable: removingUnreadable, next) }
          if let outcome { return outcome }
        }
        throw KeychainCredentialsError(errSecDuplicateItem)
      }

      /// - Returns: whether it was replaced; `nil`: somebody else was quicker.
      private func attempt(
        removingUnreadable: Bool, _ next: (CredentialRecord) -> CredentialRecord?
      ) throws -> Bool? {
        let content = try item.read()
        let present: (record: CredentialRecord, isThere: Bool)
        do throws(KeychainCredentialsError) {
          present = try state(of: content)
        } catch {
          // A file can be removed by hand, an item of the Keychain cannot.
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

      /// What was read says, and whether there is an item at all.
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
