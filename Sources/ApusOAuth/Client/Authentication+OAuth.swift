public import ApusCore
public import ApusMiddleware

extension Authentication {
  /// Authenticates with the tokens of an OAuth client. The tokens are refreshed like the tokens of
  /// `Authentication.bearer`: one refresh serves any number of calls, and any number of processes that share a store
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

  /// Authenticates with tokens of the client itself, see ``OAuthClient/clientCredentials(scopes:)``. Instead of a
  /// refresh the client requests new tokens.
  ///
  /// - Parameters:
  ///   - client: requests the tokens.
  ///   - store: the store, with the first tokens.
  ///   - scopes: the scopes to request. Default: none, the server's choice.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL.
  public static func clientCredentials(
    _ client: OAuthClient, _ store: any RefreshableCredentialsStore, scopes: [String] = [], origins: Set<Origin>? = nil
  ) -> Authentication {
    .scheme(OAuthScheme(client: client), store, origins: origins) { _ in
      try await throwingCallErrors { () async throws(OAuthError) in
        try await client.clientCredentials(scopes: scopes).tokens
      }
    }
  }

  private static func refreshed(_ credential: Credential, by client: OAuthClient) async throws -> Tokens {
    guard case .tokens(let tokens) = credential else { throw RefreshRejection() }
    return try await throwingCallErrors { () async throws(OAuthError) in try await client.refreshed(tokens) }
  }

  /// Throws the error of a failed call itself, so that a refresh treats it like any other failed call.
  private static func throwingCallErrors(_ work: () async throws(OAuthError) -> Tokens) async throws -> Tokens {
    do throws(OAuthError) {
      return try await work()
    } catch {
      if error.problem == .callFailed, let cause = error.underlying as? CallError { throw cause }
      throw error
    }
  }
}
