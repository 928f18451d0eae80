import Testing

@testable import Backend

@Suite struct AuthorizationRequestTests {
  private let client = RegisteredClient(id: "demo-app")

  private func failure(_ changes: [String: String?], extra: String = "") -> AuthorizationFailure? {
    let target = SignInPage.target(changes)
    return #expect(throws: AuthorizationFailure.self) {
      let query = try Query(String(target.dropFirst("/authorize?".count)) + extra)
      _ = try AuthorizationRequest(query, of: client, issuer: "http://127.0.0.1:1")
    }
  }

  private func code(_ changes: [String: String?], extra: String = "") -> OAuthProblem.Code? {
    guard case .redirected(let redirect, let problem) = failure(changes, extra: extra) else { return nil }
    return redirect.target == SignInPage.redirect ? problem.code : nil
  }

  @Test(arguments: ["http://127.0.0.1:1/callback", "http://127.0.0.1:65535/callback"])
  func `A redirect may have any port`(redirect: String) {
    #expect(client.allows(redirect: redirect))
  }

  @Test(arguments: [
    "", "http://127.0.0.1/callback", "http://127.0.0.1:/callback", "http://127.0.0.1:0/callback",
    "http://127.0.0.1:01/callback", "http://127.0.0.1:65536/callback", "http://127.0.0.1:99999999999999999999/callback",
    "https://127.0.0.1:1/callback", "http://localhost:1/callback", "http://127.0.0.2:1/callback",
    "http://127.0.0.1:1/callback/", "http://127.0.0.1:1/callback?a", "http://127.0.0.1:1/callback#a",
    "http://127.0.0.1:1/CALLBACK", "http://127.0.0.1:1@example.com/callback", "http://127.0.0.1:1/callba\u{63}\u{301}k",
    "http://127.0.0.1:1/../callback", "HTTP://127.0.0.1:1/callback", "http://127.0.0.1:１/callback",
  ])
  func `Any other redirect is rejected`(redirect: String) {
    #expect(!client.allows(redirect: redirect))
  }

  @Test func `Errors of the client and its redirect are shown to the user only`() {
    for changes in [["client_id": "other"], ["client_id": nil], ["redirect_uri": "https://example.com"]] {
      guard case .shown = failure(changes) else {
        Issue.record("\(changes)")
        continue
      }
    }
    for extra in ["&client_id=demo-app", "&redirect_uri=x"] {
      guard case .shown = failure([:], extra: extra) else {
        Issue.record("\(extra)")
        continue
      }
    }
  }

  @Test func `Other errors are sent to the app`() {
    #expect(code(["response_type": nil]) == .invalidRequest)
    #expect(code(["response_type": "token"]) == .unsupportedResponseType)
    #expect(code(["scope": "all"]) == .invalidScope)
    #expect(code([:], extra: "&state=again") == .invalidRequest)
  }

  @Test func `A code challenge with S256 is required`() {
    #expect(code(["code_challenge": nil]) == .invalidRequest)
    #expect(code(["code_challenge": "short"]) == .invalidRequest)
    #expect(code(["code_challenge": String(repeating: "=", count: 43)]) == .invalidRequest)
    #expect(code(["code_challenge_method": nil]) == .invalidRequest)
    #expect(code(["code_challenge_method": "plain"]) == .invalidRequest)
  }

  @Test func `A verifier belongs to the challenge that is its SHA-256`() {
    let (verifier, challenge) = (SignInPage.verifier, SignInPage.challenge)
    #expect(CodeVerifier.matches(verifier, challenge: challenge))
    for other in [challenge, "", verifier + "a", String(verifier.dropLast()), verifier.lowercased()] {
      #expect(!CodeVerifier.matches(other, challenge: challenge))
    }
  }

  @Test func `A redirect has the state exactly as the app sent it, and the issuer`() {
    let redirect = AuthorizationRedirect(target: "http://127.0.0.1:1/callback", state: "a b&=ü", issuer: "http://x:1")
    #expect(
      redirect.url(code: "c")
        == "http://127.0.0.1:1/callback?code=c&state=a%20b%26%3D%C3%BC&iss=http%3A%2F%2Fx%3A1")
    let stateless = AuthorizationRedirect(target: "http://127.0.0.1:1/callback", state: nil, issuer: "x")
    #expect(
      stateless.url(OAuthProblem(.accessDenied, "no"))
        == "http://127.0.0.1:1/callback?error=access_denied&error_description=no&iss=x")
  }
}
