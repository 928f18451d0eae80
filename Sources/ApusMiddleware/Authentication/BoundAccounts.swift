import ApusCore

/// The accounts that a call is bound to: what each authentication's source held when the call began.
struct BoundAccounts: Sendable {
  private struct Entry: Sendable {
    let parts: ObjectIdentifier
    let account: BoundAccount
  }

  private var entries: [Entry] = []

  /// Reads the sources of all authentications that the call may show.
  ///
  /// - Throws: `CancellationError` when the call is cancelled. What cannot be read may not be needed, and is no error
  ///   before it is.
  init(_ authentications: [Authentication], for request: RequestMessage) async throws {
    for authentication in authentications {
      // A call's own credentials are its own business, and what a refresh sends belongs to nobody.
      if authentication.isAtWork || authentication.isAnticipated(by: request) { continue }
      let account = BoundAccount(try await authentication.result())
      entries.append(Entry(parts: ObjectIdentifier(authentication.parts), account: account))
    }
  }

  subscript(authentication: Authentication) -> BoundAccount? {
    let parts = ObjectIdentifier(authentication.parts)
    return entries.first { $0.parts == parts }?.account
  }

  /// A number for all of them together; `nil`: there are none.
  var principal: UInt64? {
    guard entries.count != 1 else { return entries[0].account.principal }
    var hasher = Hasher()
    for entry in entries { hasher.combine(entry.account.principal) }
    return entries.isEmpty ? nil : UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// The account of one authentication that a call is bound to.
struct BoundAccount: Sendable {
  /// What its source held.
  let stored: Result<StoredCredential, any Error>

  init(_ stored: Result<StoredCredential, any Error>) {
    self.stored = stored
  }

  /// A call whose credentials could not be read is like no account's.
  var principal: UInt64 {
    if case .success(let stored) = stored { return stored.principal }
    return .max
  }

  /// The credentials that there are now, in one read with whose they are.
  ///
  /// A call that began signed out stays without, whoever signs in meanwhile.
  ///
  /// - Throws: ``PrincipalChanged`` as the cause of a ``TransportError``, or what the session ended with, where the
  ///   account is another one by now; what reading throws.
  func current(_ authentication: Authentication) async throws -> StoredCredential {
    let bound = try stored.get()
    guard bound.credential != nil else { return bound }
    return try await authentication.read(as: bound.principal)
  }
}

/// Where a call keeps whom it is bound to.
enum BoundAccountsKey: ContextKey {
  static let defaultValue: BoundAccounts? = nil
  /// The principal does.
  static let tellsCallsApart = false
}
