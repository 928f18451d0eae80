import ApusCore
public import ApusMiddleware
import Synchronization

extension OAuthClient {
  /// Requests tokens for the client itself, without a user (RFC 6749 §4.4). The client must have an
  /// ``OAuthClient/authentication``.
  ///
  /// - Parameter scopes: the scopes to request. Default: none, the server's choice.
  /// - Throws: ``OAuthError``.
  public func clientCredentials(scopes: [String] = []) async throws(OAuthError) -> OAuthGrant {
    var form: Form = [("grant_type", "client_credentials")]
    if !scopes.isEmpty { form.append(("scope", scopes.joined(separator: " "))) }
    let key = try newProofKey(for: .clientCredentials)
    return OAuthGrant(try await tokens(form, for: .clientCredentials, boundTo: key), requested: scopes)
  }

  /// Refreshes tokens (RFC 6749 §6). The old refresh token may be invalid afterward, so store the result immediately.
  ///
  /// `Authentication.oauth` does this for all calls: one refresh serves any number of calls and processes. An ID token
  /// in the response is not read: the ID token of the sign-in stays.
  ///
  /// - Parameter tokens: the tokens.
  /// - Returns: the new tokens. The refresh token, the scopes, the ID token and the key of the old tokens are kept
  ///   unless the server has sent new values.
  /// - Throws: ``OAuthError``: ``OAuthError/Code/invalidGrant`` if a new sign-in is required.
  public func refreshed(_ tokens: Tokens) async throws(OAuthError) -> Tokens {
    guard let refresh = tokens.usableRefresh else {
      throw OAuthError(.refresh, .invalidGrant, "there is no refresh token")
    }
    let key = try proofKey(of: tokens, .refresh)
    var new = try await self.tokens(
      [("grant_type", "refresh_token"), ("refresh_token", refresh.value)], for: .refresh, boundTo: key)
    new.idToken = tokens.idToken
    return new.completed(with: tokens)
  }

  /// Revokes tokens at the server (RFC 7009): the refresh token, which ends the sign-in, then the access token.
  ///
  /// - Parameter tokens: the tokens. Afterward these tokens are invalid, also on other devices that share them.
  /// - Throws: ``OAuthError``. If the refresh token was revoked, a server that cannot revoke access tokens causes no
  ///   error.
  public func revoke(_ tokens: Tokens) async throws(OAuthError) {
    let url = try server.url(\.revocationEndpoint, for: .revocation)
    if let refresh = tokens.usableRefresh {
      _ = try await post(
        url, [("token", refresh.value), ("token_type_hint", "refresh_token")], for: .revocation)
    }
    do throws(OAuthError) {
      _ = try await post(
        url, [("token", tokens.access.value), ("token_type_hint", "access_token")], for: .revocation)
    } catch {
      guard error.problem == .unsupportedTokenType, tokens.usableRefresh != nil else { throw error }
    }
  }

  /// Signs out: removes the tokens from a store, then revokes them if the server supports revocation.
  ///
  /// If the server supports revocation, this function waits for a running refresh, at most for twice the refresh's time
  /// limit. Without this wait the tokens of that refresh would stay valid. Do not call this function in the closure of
  /// a refresh or under the lease of the store: it would wait for itself.
  ///
  /// - Parameter store: the store.
  /// - Throws: the error of the store, or ``OAuthError`` of the revocation. The store is empty in the second case.
  public func signOut(of store: any CredentialsStore) async throws {
    guard server.revocationEndpoint != nil else { return try await store.clear() }
    if let tokens = try await store.removeTokens() { try await revoke(tokens) }
  }

  /// Creates the key to which new tokens are bound; `nil` if tokens are not bound.
  ///
  /// - Throws: an error if the server states the algorithms of its proofs of possession, and the key's algorithm is not
  ///   among them.
  func newProofKey(for step: OAuthError.Step) throws(OAuthError) -> ProofKey? {
    guard bindsTokens else { return nil }
    if let algorithms = server.proofAlgorithms, !algorithms.contains(ProofKey.algorithm.rawValue) {
      throw OAuthError(
        step, .invalidMetadata, "the server supports no proof of possession with \(ProofKey.algorithm.rawValue)")
    }
    return ProofKey()
  }

  func proofKey(of tokens: Tokens, _ step: OAuthError.Step) throws(OAuthError) -> ProofKey? {
    guard let stored = tokens.proofKey else { return nil }
    guard let key = ProofKey(stored) else { throw OAuthError(step, .invalidKey, "the stored key is malformed") }
    return key
  }
}

extension Tokens {
  /// The refresh token, unless it is empty.
  fileprivate var usableRefresh: Secret? { refresh.flatMap { $0.value.isEmpty ? nil : $0 } }
}

extension CredentialsStore {
  /// Removes the credentials, with the lock of a refreshable store. Returns the credentials if they are tokens.
  fileprivate func removeTokens() async throws -> Tokens? {
    guard let store = self as? any RefreshableCredentialsStore else { return try await removeTokensUnlocked() }
    let taken = Mutex<Tokens?>(nil)
    try await store.withLock {
      let tokens = try await store.removeTokensUnlocked()
      taken.withLock { $0 = tokens }
    }
    return taken.withLock { $0 }
  }

  private func removeTokensUnlocked() async throws -> Tokens? {
    let stored = try await current()
    try await clear()
    guard case .tokens(let tokens)? = stored.credential else { return nil }
    return tokens
  }
}
