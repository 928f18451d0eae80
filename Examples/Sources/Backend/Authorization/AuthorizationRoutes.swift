import Foundation
import HTTPTypes

/// The authorization server's metadata and sign-in page.
///
/// - `GET /.well-known/oauth-authorization-server`: the metadata (RFC 8414)
/// - `GET /authorize?response_type=code&client_id=&redirect_uri=&state=&code_challenge=&code_challenge_method=S256`: the
///   sign-in page; with an invalid request, an error page or a redirect with the error
/// - `POST /authorize?…` with the form `email`, `password` and `decision`: a redirect with `code`, `state` and `iss` (RFC
///   9207); after `decision=cancel` with the error `access_denied`; 403 and the page again for a wrong password
struct AuthorizationRoutes {
  let client: RegisteredClient
  let codes: AuthorizationCodes
  let accounts: AccountStore
  let now: @Sendable () -> Date

  func add(to routes: inout Routes) {
    routes.on(.get, "/.well-known/oauth-authorization-server") { _, context in
      .json(Metadata(issuer: Self.issuer(context)))
    }
    routes.on(.get, "/authorize", validating { _, _, _ in AuthorizationPage.signIn() })
    routes.on(.post, "/authorize", validating(decide))
  }

  /// The metadata of this server.
  private struct Metadata: Encodable {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let revocationEndpoint: String
    let responseTypesSupported = ["code"]
    let grantTypesSupported = ["authorization_code", "refresh_token"]
    let codeChallengeMethodsSupported = ["S256"]
    let tokenEndpointAuthMethodsSupported = ["none"]
    let revocationEndpointAuthMethodsSupported = ["none"]
    let authorizationResponseIssParameterSupported = true

    init(issuer: String) {
      self.issuer = issuer
      authorizationEndpoint = issuer + "/authorize"
      tokenEndpoint = issuer + "/token"
      revocationEndpoint = issuer + "/revoke"
    }
  }

  /// The address at which the server listens. The request's `Host` is untrusted.
  private static func issuer(_ context: BackendContext) -> String {
    "http://127.0.0.1:\(context.port)"
  }

  /// Wraps a handler so that an invalid request gets an error page or a redirect with the error.
  private func validating(
    _ handle: @escaping @Sendable (AuthorizationRequest, Request, BackendContext) async throws -> Response
  ) -> Routes.Handler {
    { request, context in
      let query = try Query(request.query)
      let authorization: AuthorizationRequest
      do throws(AuthorizationFailure) {
        authorization = try AuthorizationRequest(query, of: client, issuer: Self.issuer(context))
      } catch {
        switch error {
        case .shown(let sentence): return AuthorizationPage.failure(sentence)
        case .redirected(let redirect, let problem): return Self.redirect(redirect.url(problem))
        }
      }
      return try await handle(authorization, request, context)
    }
  }

  /// Signs the user in, or redirects to the app with the error of a cancelled sign-in.
  @Sendable
  private func decide(
    _ authorization: AuthorizationRequest, _ request: Request, _ context: BackendContext
  ) async throws -> Response {
    let form = try Content.form(of: request)
    if form["decision"] == "cancel" {
      return Self.redirect(authorization.redirect.url(OAuthProblem(.accessDenied, "the user cancelled")))
    }
    let (email, password) = (form["email", default: ""], form["password", default: ""])
    guard let account = try await accounts.account(email: email, password: password) else {
      return AuthorizationPage.signIn(isRejected: true)
    }
    context.exchange?.identified(as: account.id)
    let grant = AuthorizationGrant(
      account: account, client: authorization.client, redirect: authorization.redirect.target,
      challenge: authorization.challenge)
    return Self.redirect(authorization.redirect.url(code: codes.issue(for: grant, at: now()).text))
  }

  /// Redirects with the status 303, so that the browser does not resend the password (RFC 9700 §4.12). The URL is
  /// secret.
  private static func redirect(_ url: String) -> Response {
    Response(status: .seeOther, headers: [.location: url, .cacheControl: "no-store"])
  }
}
