public import ApusCore

/// Where the environment keeps its authentications.
enum AuthenticationsKey: ContextKey {
  static let defaultValue: [Authentication] = []
}

extension Environment {
  /// How calls in this environment show who is calling. Default: not at all.
  ///
  /// Setting it replaces all ``authentications``.
  public var authentication: Authentication? {
    get { authentications.first }
    set { authentications = newValue.map { [$0] } ?? [] }
  }

  /// How calls in this environment show who is calling, when there are several ways: keys and tokens at once, or other
  /// credentials for other servers and realms. Default: none.
  ///
  /// A message shows those that are for its origin. Of several with a place in common, such as `Authorization`, the
  /// first shows its credentials, and another where the server's challenge asks for it by its scheme or realm; from then
  /// on it is that one for the same part of the server.
  ///
  /// ```swift
  /// var environment = Environment(baseURL: "https://api.example.com/v1")
  /// environment.authentications = [
  ///   .bearer(tokens), .apiKey(key, field: "X-Api-Key"), .basic(operators, realm: "operations"),
  /// ]
  /// ```
  public var authentications: [Authentication] {
    get { values[AuthenticationsKey.self] }
    set {
      values[AuthenticationsKey.self] = newValue
      // Nothing that core keeps or shares may pass from one account to the next.
      if newValue.isEmpty {
        values[PrincipalKey.self] = nil
      } else {
        values[PrincipalKey.self] = { try await newValue.bind(&$1, $0) }
      }
    }
  }
}

extension [Authentication] {
  /// Binds a call to the accounts whose credentials it may show.
  ///
  /// - Returns: a number for them; those of several make one. `nil`: the call carries none.
  fileprivate func bind(_ context: inout CallContext, _ request: RequestMessage) async throws -> UInt64? {
    guard context.values[CredentialUseKey.self] != .none else { return nil }
    let accounts = try await BoundAccounts(self, for: request)
    context.values[BoundAccountsKey.self] = accounts
    return accounts.principal
  }
}
