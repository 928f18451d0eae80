public import ApusCore
public import ApusMiddleware

extension Authentication {
  /// Authenticates with the tokens of an OAuth client, which are refreshed as
  /// those of `Authentication.bearer`: once for any number of calls, and for any number of processes that share a store
  /// with leases. Tokens that are bound to a key (``OAuthClient/bindsTokens``) are sent with a proof of possession.
  ///
  /// - Parameters:
  ///   - client: refreshes the tokens.
  ///   - store: the store of the tokens of a ``OAuthGrant``. Without a refresh token the session ends with the access
  ///     token.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL.
  public static func oauth(
    _ client: OAuthClient, _ store: any RefreshableCredentialsStore, origins: Set<Origin>? = nil
  ) -> Authentication {
    .scheme(OAuthScheme(client: client), store, origins: origins) { try await refreshed($0.credential, by: client) }
  }

  /// Authenticates with tokens of the client itself, see ``OAuthClient/clientCredentials(scopes:)``. In place of a refresh
  /// the client gets new ones.
  ///
  /// - Parameters:
  ///   - client: gets the tokens.
  ///   - store: the store, with the first tokens.
  ///   - scopes: the scopes to ask for. Default: none, the server's choice.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL.
  public static func clientCredentials(
    _ client: OAuthClient, _ store: any RefreshableCredentialsStore, scopes: [String] = [], origins: Set<Origin>? = nil
  ) -> Authentication {
    .scheme(OAuthScheme(client: client), store, origins: origins) { _ in
      try await passing { () async throws(OAuthError) in try await client.clientCredentials(scopes: scopes).tokens }
    }
  }

  private static func refreshed(_ credential: Credential, by client: OAuthClient) async throws -> Tokens {
    guard case .tokens(let tokens) = credential else { throw RefreshRejection() }
    return try await passing { () async throws(OAuthError) in try await client.refreshed(tokens) }
  }

  /// A call that failed on the way is judged as any other call of a refresh.
  private static func passing(_ work: () async throws(OAuthError) -> Tokens) async throws -> Tokens {
    do throws(OAuthError) {
      return try await work()
    } catch {
      if error.problem == .callFailed, let cause = error.underlying as? CallError { throw cause }
      throw error
    }
  }
}
