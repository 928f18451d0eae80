import Foundation
import HTTPTypes

/// The authorization server's tokens. Requests are forms with `client_id`.
///
/// - `POST /token` with `grant_type=authorization_code`, `code`, `redirect_uri` and `code_verifier`: `{access_token,
///   refresh_token, expires_in, token_type}`
/// - `POST /token` with `grant_type=refresh_token` and `refresh_token`: the same, with new tokens; the use of a
///   superseded refresh token ends the session
/// - `POST /revoke` with `token`: 200, also for an unknown token; ends the session (RFC 7009)
///
/// Errors are 400 with `{error, error_description}` (RFC 6749 §5.2).
struct TokenRoutes {
  let client: RegisteredClient
  let codes: AuthorizationCodes
  let sessions: SessionStore
  let now: @Sendable () -> Date

  func add(to routes: inout Routes) {
    routes.on(.post, "/token") { request, context in
      let form = try form(of: request)
      switch try form.required("grant_type") {
      case "authorization_code": return try await exchange(form, context)
      case "refresh_token": return try await refresh(form, context)
      default: throw OAuthProblem(.unsupportedGrantType, "there is no such grant_type here")
      }
    }
    routes.on(.post, "/revoke") { request, _ in
      let form = try form(of: request)
      try await sessions.end(sessionOf: OpaqueToken(text: try form.required("token")), client: client.id)
      return Response(status: .ok)
    }
  }

  /// Reads the form of a request. Throws if its client is unknown.
  private func form(of request: Request) throws(OAuthProblem) -> Query {
    let form: Query
    do throws(Problem) {
      form = try Content.form(of: request)
    } catch {
      throw OAuthProblem(.invalidRequest, error.detail)
    }
    guard form.repeated.isEmpty else { throw OAuthProblem(.invalidRequest, "a parameter is repeated") }
    guard form["client_id"] == client.id else { throw OAuthProblem(.invalidClient, "the client is not known") }
    return form
  }

  private func exchange(_ form: Query, _ context: BackendContext) async throws -> Response {
    let code = OpaqueToken(text: try form.required("code"))
    let verifier = try form.required("code_verifier")
    switch codes.redeem(code, at: now()) {
    case .granted(let grant):
      guard grant.client == client.id, form["redirect_uri"] == grant.redirect else {
        throw OAuthProblem(.invalidGrant, "the code was issued for another redirect")
      }
      guard CodeVerifier.matches(verifier, challenge: grant.challenge) else {
        throw OAuthProblem(.invalidGrant, "the code_verifier does not belong to the code")
      }
      let opened = try await sessions.start(for: grant.account, client: grant.client)
      guard codes.exchanged(code, for: opened.session) else {
        try await sessions.end(session: opened.session)
        throw Self.usedTwice
      }
      context.exchange?.identified(as: grant.account.id)
      return Self.response(opened.tokens)
    case .reused(let session):
      if let session { try await sessions.end(session: session) }
      throw Self.usedTwice
    case .unknown:
      throw OAuthProblem(.invalidGrant, "the code is not valid or has expired")
    }
  }

  private func refresh(_ form: Query, _ context: BackendContext) async throws -> Response {
    let token = OpaqueToken(text: try form.required("refresh_token"))
    switch try await sessions.refresh(token, client: client.id) {
    case .valid(let renewal):
      context.exchange?.identified(as: renewal.account)
      return Self.response(renewal.tokens)
    case .reused:
      throw OAuthProblem(.invalidGrant, "the refresh token was used twice: the session has ended")
    case .expired, .unknown:
      throw OAuthProblem(.invalidGrant, "the session has ended")
    }
  }

  private static let usedTwice = OAuthProblem(.invalidGrant, "the code was used twice")

  /// Returns a response with tokens that forbids caching (RFC 6749 §5.1).
  private static func response(_ tokens: Tokens) -> Response {
    var response = Response.json(tokens)
    response.headers[.cacheControl] = "no-store"
    return response
  }
}

extension Query {
  /// Returns a parameter that must be present.
  fileprivate func required(_ name: String) throws(OAuthProblem) -> String {
    guard let value = self[name], !value.isEmpty else {
      throw OAuthProblem(.invalidRequest, "\(name) is missing")
    }
    return value
  }
}
