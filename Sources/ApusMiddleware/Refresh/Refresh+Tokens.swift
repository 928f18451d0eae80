public import ApusCore

extension Refresh {
  /// Asks a token endpoint for new tokens as OAuth 2.0 has it (RFC 6749 §6): a form with `grant_type=refresh_token` and
  /// the refresh token.
  ///
  /// - Parameters:
  ///   - path: where, below the environment's base URL.
  ///   - parameters: what the server wants beside, such as `client_id`. Default: nothing.
  /// - Throws: as `send` of a client; ``RefreshRefusal`` where there is no refresh token.
  public func tokens(from path: RequestPath, adding parameters: Query = [:]) async throws -> Tokens {
    guard case .tokens(let old) = credential, let token = old.refresh else { throw RefreshRefusal() }
    var form: Query = ["grant_type": "refresh_token", "refresh_token": token.value]
    form.append(parameters)
    return try await send(Request<Tokens>.post(path, content: .form(form)))
  }
}
