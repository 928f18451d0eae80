import ApusCore

/// The accounts that a call is bound to: the content of each authentication's store when the call began.
struct BoundAccounts: Sendable {
  private struct Entry: Sendable {
    let parts: ObjectIdentifier
    let account: BoundAccount
  }

  private var entries: [Entry] = []

  /// Reads the stores of all authentications whose credentials the call may carry.
  ///
  /// - Throws: `CancellationError` when the call is cancelled. An error of a store matters only if its credentials are
  ///   needed.
  init(_ authentications: [Authentication], for request: RequestMessage) async throws {
    for authentication in authentications {
      // A call's own credentials, and those of a refresh, belong to no account.
      if authentication.isAtWork || authentication.isAnticipated(by: request) { continue }
      let account = BoundAccount(try await authentication.result())
      entries.append(Entry(parts: ObjectIdentifier(authentication.parts), account: account))
    }
  }

  subscript(authentication: Authentication) -> BoundAccount? {
    let parts = ObjectIdentifier(authentication.parts)
    return entries.first { $0.parts == parts }?.account
  }

  /// A number that identifies all accounts together; `nil`: there are no accounts.
  var principal: UInt64? {
    guard entries.count != 1 else { return entries[0].account.principal }
    var hasher = Hasher()
    for entry in entries { hasher.combine(entry.account.principal) }
    return entries.isEmpty ? nil : UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// The account of one authentication that a call is bound to.
struct BoundAccount: Sendable {
  /// The content of the store, or the error of reading it.
  let stored: Result<StoredCredential, any Error>

  init(_ stored: Result<StoredCredential, any Error>) {
    self.stored = stored
  }

  var principal: UInt64 {
    if case .success(let stored) = stored { return stored.principal }
    return PrincipalKey.unreadable
  }

  /// Reads the current credentials, if they belong to the account.
  ///
  /// A call that began signed out never gets credentials.
  ///
  /// - Throws: ``PrincipalChangedError`` as the cause of a ``TransportError``, or the error that ended the session, if
  ///   the account has changed; errors of reading.
  func current(_ authentication: Authentication) async throws -> StoredCredential {
    let bound = try stored.get()
    guard bound.credential != nil else { return bound }
    return try await authentication.read(as: bound.principal)
  }
}

/// The accounts that a call is bound to.
enum BoundAccountsKey: ContextKey {
  static let defaultValue: BoundAccounts? = nil
  /// The principal keeps calls of different accounts apart.
  static let affectsCoalescing = false
}
