import Testing

@testable import ApusOAuth

@Suite("The redirect at the end of an authorization")
struct AuthorizationResponseTests {
  private func code(
    _ url: String, redirect: String = "app:/done", namesIssuer: Bool = false
  ) -> Result<String, OAuthError> {
    let response = AuthorizationResponse(
      redirect: redirect, state: "s1", issuer: "https://id.example.com", namesIssuer: namesIssuer)
    return Result { () throws(OAuthError) in try response.code(in: url) }
  }

  @Test(
    "A valid redirect contains the code",
    arguments: [
      "app:/done?code=c&state=s1", "app:/done?state=s1&code=c&iss=https%3A%2F%2Fid.example.com",
      "app:/done?code=%63&state=s1#f",
      "app:/done?code=c&state=s1&session_state=x", "app:/done?code=c&state=s1&error=",
    ])
  func good(url: String) throws {
    #expect(try code(url).get() == "c")
  }

  @Test(
    "A redirect that does not match the request ends the sign-in",
    arguments: [
      ("app:/done?code=c&state=s2", .stateMismatch), ("app:/done?code=c", .stateMismatch),
      ("app:/done?error=access_denied", .stateMismatch), ("app:/done", .stateMismatch),
      ("app:/done?code=c&state=s1&iss=https%3A%2F%2Fevil.example", .issuerMismatch),
      ("app:/done?code=c&state=s1&iss=", .issuerMismatch), ("app:/other?code=c&state=s1", .redirectMismatch),
      ("app:/done2?code=c&state=s1", .redirectMismatch), ("App:/done?code=c&state=s1", .redirectMismatch),
      ("", .redirectMismatch), ("app:/done?code=c&state=s1&state=s1", .malformedResponse),
      ("app:/done?code=c&code=d&state=s1", .malformedResponse), ("app:/done?state=s1", .malformedResponse),
      ("app:/done?code=&state=s1", .malformedResponse), ("app:/done#code=c&state=s1", .stateMismatch),
      ("app:/done?error=access_denied&state=s1", .accessDenied), ("app:/done?error=odd&state=s1", .unregistered),
      ("app:/done?error=state_mismatch&state=s1", .unregistered),
      ("app:/done?code=c&error=server_error&state=s1", .serverError),
    ] as [(String, OAuthError.Problem)])
  func bad(url: String, code: OAuthError.Problem) {
    guard case .failure(let error) = self.code(url) else {
      Issue.record("the redirect is accepted")
      return
    }
    #expect(error.problem == code)
  }

  @Test("If a server announces that its redirects state the issuer, a redirect without it is refused")
  func issuer() {
    guard case .failure(let error) = code("app:/done?code=c&state=s1", namesIssuer: true) else {
      Issue.record("the redirect is accepted")
      return
    }
    #expect(error.problem == .issuerMismatch)
  }

  @Test("A redirect URL keeps its own parameters")
  func query() throws {
    #expect(try code("app:/done?x=1&code=c&state=s1", redirect: "app:/done?x=1").get() == "c")
    #expect(throws: OAuthError.self) { try code("app:/done?x=1?code=c&state=s1", redirect: "app:/done?x=1").get() }
  }

  @Test("A redirect that exceeds the limit is refused")
  func long() {
    #expect(throws: OAuthError.self) { try code("app:/done?code=" + String(repeating: "c", count: 20_000)).get() }
  }
}
