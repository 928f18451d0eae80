import ApusCore
import ApusJSON
import ApusMiddleware

extension OAuthClient {
  /// Prepares an authorization with a code (RFC 6749 §4.1) and PKCE (RFC 7636, S256). For web apps and other programs
  /// that open the page and receive the redirect themselves; ``signIn(scopes:redirect:browser:parameters:)`` does both.
  ///
  /// If the server supports pushed authorization requests, the request is pushed (RFC 9126).
  ///
  /// - Parameters:
  ///   - scopes: the scopes to request. With `openid` the server identifies the user by an ID token.
  ///   - redirect: the URL to which the server redirects the browser, exactly as registered.
  ///   - parameters: further parameters, such as `prompt` or `login_hint`. Standard parameters that the library sets
  ///     itself are ignored. With `max_age` and the scope `openid`, ``finish(_:with:)`` refuses a user who
  ///     authenticated earlier. Default: none.
  /// - Throws: ``OAuthError``.
  public func authorization(
    scopes: [String], redirect: String, parameters: [String: String] = [:]
  ) async throws(OAuthError) -> OAuthAuthorization {
    try await authorization(scopes, redirect, parameters, state: newState())
  }

  /// Returns the state of a new authorization.
  func newState() -> String { SecretText.make(runtime.random) }

  /// Prepares an authorization whose redirect will have a given state.
  func authorization(
    _ scopes: [String], _ redirect: String, _ parameters: [String: String], state: String
  ) async throws(OAuthError) -> OAuthAuthorization {
    let page = try server.url(\.authorizationEndpoint, for: .authorization)
    if let methods = server.codeChallengeMethods, !methods.contains("S256") {
      throw OAuthError(.authorization, .invalidMetadata, "the server supports no code challenge with S256")
    }
    guard !redirect.utf8.contains(UInt8(ascii: "#")) else {
      throw OAuthError(.authorization, .redirectMismatch, "the redirect has a fragment")
    }
    let isOpenID = scopes.contains("openid")
    var secrets = OAuthAuthorization.Secrets(
      state: state, openID: isOpenID, key: try newProofKey(for: .authorization), random: runtime.random)
    if isOpenID, let age = parameters["max_age"] { secrets.age = try AuthenticationAge(age, start: now()) }
    var form = form(scopes, redirect, secrets)
    let names = Set(form.map(\.name)).union(["client_id", "client_secret", "request", "request_uri"])
    form += parameters.sorted { $0.key < $1.key }.filter { !names.contains($0.key) }.map { ($0.key, $0.value) }
    let query: Form
    if server.pushedAuthorizationEndpoint != nil || server.requiresPushedAuthorization {
      query = [("client_id", id), ("request_uri", try await push(form, secrets))]
    } else {
      query = [("client_id", id)] + form
    }
    return OAuthAuthorization(
      page: FormText.url(page.text, adding: query), redirect: redirect, scopes: scopes, secrets)
  }

  private func form(_ scopes: [String], _ redirect: String, _ secrets: OAuthAuthorization.Secrets) -> Form {
    var form: Form = [
      ("response_type", "code"), ("redirect_uri", redirect), ("state", secrets.state),
      ("code_challenge", secrets.challenge), ("code_challenge_method", "S256"),
    ]
    if !scopes.isEmpty { form.append(("scope", scopes.joined(separator: " "))) }
    if let nonce = secrets.nonce { form.append(("nonce", nonce)) }
    if let key = secrets.key { form.append(("dpop_jkt", key.thumbprint)) }
    return form
  }

  /// Pushes an authorization request. Returns its URI.
  private func push(_ form: Form, _ secrets: OAuthAuthorization.Secrets) async throws(OAuthError) -> String {
    let url = try server.url(\.pushedAuthorizationEndpoint, for: .pushedAuthorization)
    var form = form
    // The client ID is a parameter of every authorization request (RFC 9126 §2.1), even if a field identifies the
    // client.
    if !authentication.addsID { form.append(("client_id", id)) }
    let json = try await post(url, form, for: .pushedAuthorization, proving: secrets.key)
    guard let uri = json.text("request_uri"), uri.utf8.count <= 2048 else {
      throw OAuthError(.pushedAuthorization, .malformedResponse, "the response has no request URI")
    }
    return uri
  }

  /// Finishes an authorization: checks the redirect, exchanges its code for tokens and verifies the ID token.
  ///
  /// - Parameters:
  ///   - authorization: the authorization, which cannot be finished again, even after a failure.
  ///   - redirect: the complete URL to which the browser was redirected.
  /// - Returns: the tokens, and the user's identity with the scope `openid`.
  /// - Throws: ``OAuthError``: the server's error; ``OAuthError/Code/invalidResponse`` if the redirect or the ID token
  ///   belongs to another authorization; ``OAuthError/Code/invalidRequest`` if the authorization was used before.
  public func finish(
    _ authorization: OAuthAuthorization, with redirect: String
  ) async throws(OAuthError) -> OAuthGrant {
    try authorization.use()
    let response = AuthorizationResponse(
      redirect: authorization.redirect, state: authorization.secrets.state, issuer: server.issuer,
      namesIssuer: server.namesIssuer, tenants: try server.tenants(for: .redirect))
    let form: Form = [
      ("grant_type", "authorization_code"), ("code", try response.code(in: redirect)),
      ("redirect_uri", authorization.redirect), ("code_verifier", authorization.secrets.verifier),
    ]
    let secrets = authorization.secrets
    let tokens = try await tokens(form, for: .token, boundTo: secrets.key)
    let identity = try await identity(
      of: tokens, requested: authorization.scopes, nonce: secrets.nonce, age: secrets.age)
    return OAuthGrant(tokens, requested: authorization.scopes, identity: identity)
  }
}
