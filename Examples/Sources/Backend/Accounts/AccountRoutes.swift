import Foundation
import HTTPTypes

/// The routes for signing up, in and out.
///
/// - `POST /accounts` `{name, email, password}`: 201 `{id, name, email}`
/// - `GET /accounts/me`: `{id, name, email}`
/// - `POST /sessions` `{email, password}`: 201 `{access_token, refresh_token, expires_in, token_type}`
/// - `POST /sessions/refresh` `{refresh_token}`: the same, with status 200; 400 with `"error": "invalid_grant"`
/// - `POST /sessions/revoke` `{refresh_token}`: 204, also for an unknown token; revokes all tokens of the session
/// - `DELETE /sessions`: 204; revokes all tokens of the session
struct AccountRoutes {
  let accounts: AccountStore
  let gatekeeper: Gatekeeper

  func add(to routes: inout Routes) {
    let sessions = gatekeeper.sessions
    routes.on(.post, "/accounts", signUp)
    routes.on(.get, "/accounts/me", gatekeeper.guarding { _, _, principal in .json(principal.account) })
    routes.on(.post, "/sessions", signIn)
    routes.on(.post, "/sessions/refresh", refresh)
    routes.on(.post, "/sessions/revoke", revoke)
    routes.on(
      .delete, "/sessions",
      gatekeeper.guarding { _, _, principal in
        try await sessions.end(session: principal.session)
        return .noContent
      })
  }

  @Sendable
  private func signUp(_ request: Request, _ context: BackendContext) async throws -> Response {
    let input = try Content.decode(SignUpInput.self, from: request).validated()
    let account = try await accounts.add(name: input.name, email: input.email, password: input.password)
    context.exchange?.identified(as: account.id)
    return .json(account, status: .created)
  }

  @Sendable
  private func signIn(_ request: Request, _ context: BackendContext) async throws -> Response {
    let input = try Content.decode(SignInInput.self, from: request).validated()
    guard let account = try await accounts.account(email: input.email, password: input.password) else {
      throw Challenge.refused(realm: gatekeeper.realm, "The e-mail address or the password is wrong.")
    }
    context.exchange?.identified(as: account.id)
    return uncached(.json(try await gatekeeper.sessions.start(for: account).tokens, status: .created))
  }

  @Sendable
  private func refresh(_ request: Request, _ context: BackendContext) async throws -> Response {
    let token = OpaqueToken(text: try Content.decode(RefreshInput.self, from: request).validated())
    switch try await gatekeeper.sessions.refresh(token) {
    case .valid(let renewal):
      context.exchange?.identified(as: renewal.account)
      return uncached(.json(renewal.tokens))
    case .reused:
      throw Problem.invalidGrant("The session has ended: its refresh token was used twice. Sign in again.")
    case .expired:
      throw Problem.invalidGrant("The session has expired. Sign in again.")
    case .unknown:
      throw Problem.invalidGrant("The session has ended. Sign in again.")
    }
  }

  /// Requires only the refresh token, because the access token may have expired. The response does not reveal whether
  /// the token was valid (RFC 7009 §2.2).
  @Sendable
  private func revoke(_ request: Request, _: BackendContext) async throws -> Response {
    let token = OpaqueToken(text: try Content.decode(RefreshInput.self, from: request).validated())
    try await gatekeeper.sessions.end(sessionOf: token)
    return .noContent
  }

  /// Forbids caching of a response, because the response contains tokens (RFC 6749 §5.1).
  private func uncached(_ response: Response) -> Response {
    var response = response
    response.headers[.cacheControl] = "no-store"
    return response
  }
}

/// The content of a sign-up. All members are optional, so that one response reports all that are missing.
struct SignUpInput: Decodable, Sendable {
  var name: String?
  var email: String?
  var password: String?

  /// Returns the members, validated and trimmed.
  func validated() throws(Problem) -> (name: String, email: String, password: String) {
    var check = Validation()
    let name = check.name("name", name)
    let email = check.email("email", email)
    let password = check.password("password", password)
    try check.finish()
    return (name, email, password)
  }
}

/// The content of a sign-in.
struct SignInInput: Decodable, Sendable {
  var email: String?
  var password: String?

  /// Checks only that the members are present.
  func validated() throws(Problem) -> (email: String, password: String) {
    var check = Validation()
    let email = check.present("email", email).trimmingCharacters(in: .whitespacesAndNewlines)
    let password = check.present("password", password)
    try check.finish()
    return (email, password)
  }
}

/// The content of a refresh and of a sign-out.
struct RefreshInput: Decodable, Sendable {
  var refreshToken: String?

  enum CodingKeys: String, CodingKey {
    case refreshToken = "refresh_token"
  }

  func validated() throws(Problem) -> String {
    var check = Validation()
    let token = check.present("refresh_token", refreshToken)
    try check.finish()
    return token
  }
}
