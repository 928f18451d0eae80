import Apus
import ApusNIO
import ApusTesting
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

private struct BrowserFailure: Error {}

@Suite("Sign-in with a browser", .timeLimit(.minutes(5)))
struct SignInTests {
  private let issuer = FakeIssuer()

  private func signIn(
    _ oauth: OAuthClient? = nil, scopes: [String] = ["openid", "films:read"],
    _ script: @escaping @Sendable (String) async throws -> String?
  ) async throws(OAuthError) -> OAuthGrant {
    try await (oauth ?? issuer.oauth()).signIn(
      scopes: scopes, redirect: .uri("app:/done"), browser: ScriptedBrowser(script))
  }

  @Test("A sign-in returns tokens, scopes and the user's identity")
  func good() async throws {
    let grant = try await signIn { page in issuer.authorized(page) }
    #expect(grant.tokens.access.value.hasPrefix("access-") && grant.tokens.refresh != nil)
    #expect(grant.tokens.lifetime == .seconds(3600))
    #expect(grant.scopes == ["openid", "films:read"] && grant.missingScopes.isEmpty)
    #expect(grant.identity?.subject == "user-1" && grant.identity?.email == "ada@example.com")
    #expect(grant.tokens.scopes == grant.scopes && grant.tokens.idToken != nil)
    let form = try #require(issuer.forms("/token").first)
    #expect(form["client_id"] == "app" && form["redirect_uri"] == "app:/done")
    #expect(form["code_verifier"]?.utf8.count == 43)
  }

  @Test("Each sign-in has a new state, nonce and verifier, and the page contains no secret")
  func fresh() async throws {
    let oauth = issuer.oauth()
    var seen: Set<String> = []
    for _ in 0..<3 {
      let authorization = try await oauth.authorization(scopes: ["openid"], redirect: "app:/done")
      let secrets = authorization.secrets
      seen.formUnion([secrets.state, secrets.nonce ?? "", secrets.verifier])
      #expect(!authorization.page.contains(secrets.verifier))
      #expect(!texts(of: authorization).contains(secrets.verifier))
    }
    #expect(seen.count == 9)
  }

  @Test("A grant with fewer scopes than requested lists the missing scopes")
  func narrower() async throws {
    issuer.state.withLock { $0.changes["scope"] = "openid" }
    let grant = try await signIn { page in issuer.authorized(page) }
    #expect(grant.scopes == ["openid"] && grant.missingScopes == ["films:read"])
  }

  @Test("An authorization can be finished only once, whatever the result")
  func once() async throws {
    let oauth = issuer.oauth()
    let good = try await oauth.authorization(scopes: [], redirect: "app:/done")
    let redirect = issuer.authorized(good.page)
    _ = try await oauth.finish(good, with: redirect)
    #expect(
      await oauthFailure { () async throws(OAuthError) in try await oauth.finish(good, with: redirect) }?.problem
        == .alreadyUsed)
    let bad = try await oauth.authorization(scopes: [], redirect: "app:/done")
    for code in [OAuthError.Problem.stateMismatch, .alreadyUsed] {
      let url = code == .stateMismatch ? "app:/done?code=c&state=x" : issuer.authorized(bad.page)
      #expect(
        await oauthFailure { () async throws(OAuthError) in try await oauth.finish(bad, with: url) }?.problem == code)
    }
    #expect(issuer.forms("/token").count == 1)
  }

  @Test(
    "A wrong state, issuer or redirect ends the sign-in before the code is sent",
    arguments: [
      (["state": "x"], .stateMismatch), (["iss": "https://evil.example"], .issuerMismatch),
      (["iss": nil], .issuerMismatch),
      (["error": "access_denied"], .accessDenied), (["error": "login_required"], .loginRequired),
    ] as [([String: String?], OAuthError.Problem)])
  func wrong(changes: [String: String?], code: OAuthError.Problem) async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await signIn { page in issuer.authorized(page, changing: changes) }
    }
    #expect(error?.problem == code)
    #expect(issuer.forms("/token").isEmpty)
  }

  @Test(
    "A wrong ID token ends the sign-in",
    arguments: [
      (["nonce": "x"], .nonceMismatch), (["nonce": nil], .nonceMismatch),
      (["iss": "https://evil.example"], .issuerMismatch),
      (["aud": "other"], .invalidIDToken), (["at_hash": "x"], .invalidIDToken), (["exp": 1], .invalidIDToken),
    ] as [([String: JSONValue?], OAuthError.Problem)])
  func identity(claims: [String: JSONValue?], code: OAuthError.Problem) async {
    issuer.state.withLock { $0.claims = claims }
    let error = await oauthFailure { () async throws(OAuthError) in try await signIn { page in issuer.authorized(page) }
    }
    #expect(error?.problem == code && error?.step == .idToken)
  }

  @Test("With openid an ID token is required; without openid an ID token is ignored")
  func openID() async throws {
    issuer.state.withLock { $0.changes["id_token"] = "" }
    issuer.state.withLock { $0.changes["id_token"] = "x.y.z" }
    #expect(try await signIn(scopes: ["a"]) { page in issuer.authorized(page) }.identity == nil)
    let error = await oauthFailure { () async throws(OAuthError) in try await signIn { page in issuer.authorized(page) }
    }
    #expect(error?.problem == .invalidIDToken)
  }

  @Test("If the server accepts pushed requests, the parameters are pushed, and the page contains only their URI")
  func pushed() async throws {
    let oauth = issuer.oauth { $0.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par" }
    let authorization = try await oauth.authorization(
      scopes: ["a"], redirect: "app:/done", parameters: ["prompt": "login", "state": "mine", "client_id": "evil"])
    let query = FormText.decoded(authorization.page.split(separator: "?")[1])
    #expect(query == ["client_id": "app", "request_uri": "urn:request:1"])
    let form = try #require(issuer.forms("/par").first)
    #expect(form["prompt"] == "login" && form["state"] == authorization.secrets.state && form["client_id"] == "app")
    #expect(form["code_challenge_method"] == "S256" && form["redirect_uri"] == "app:/done")
  }

  @Test("A pushed request contains the client ID once, however the client proves its identity")
  func pushedIdentity() async throws {
    let key = Secret(P256.Signing.PrivateKey().pemRepresentation)
    for authentication in [ClientAuthentication.none, .basic("s"), .post("s"), try .privateKey(pem: key)] {
      var oauth = issuer.oauth { $0.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par" }
      oauth.authentication = authentication
      _ = try await oauth.authorization(scopes: ["a"], redirect: "app:/done")
      let text = try #require(issuer.stub.exchanges.last { $0.target == "/par" }).text
      #expect(text.split(separator: "&").count { $0 == "client_id=app" } == 1, "\(authentication)")
    }
  }

  @Test("A server that requires pushed requests but has no endpoint for them, or does not support S256, is refused")
  func unsupported() async {
    for (oauth, code) in [
      (issuer.oauth { $0.requiresPushedAuthorization = true }, OAuthError.Problem.missingEndpoint),
      (issuer.oauth { $0.codeChallengeMethods = ["plain"] }, .invalidMetadata),
      (issuer.oauth { $0.authorizationEndpoint = nil }, .missingEndpoint),
      (issuer.oauth { $0.authorizationEndpoint = "http://id.example.com/a" }, .insecureURL),
    ] {
      let error = await oauthFailure { () async throws(OAuthError) in
        try await oauth.authorization(scopes: [], redirect: "app:/done")
      }
      #expect(error?.problem == code)
    }
  }

  @Test("The URL of the page has ASCII characters only, whatever the metadata contain")
  func plainPage() async throws {
    let oauth = issuer.oauth { $0.authorizationEndpoint = "https://id.example.com/\u{202E}a b" }
    let authorization = try await oauth.authorization(scopes: [], redirect: "app:/done")
    #expect(authorization.page.hasPrefix("https://id.example.com/%E2%80%AEa%20b?client_id=app&"))
  }

  @Test("A timeout of the user, a closed browser and a cancelled task have different errors")
  func ends() async throws {
    let waiting = Task {
      await oauthFailure { () async throws(OAuthError) in
        try await signIn { _ in
          try await Gate().wait()
          return nil
        }
      }
    }
    try await issuer.clock.waitForSleepers(1)
    issuer.clock.advance(by: .seconds(300))
    #expect(await waiting.value?.problem == .timedOut)
    let closed = await oauthFailure { () async throws(OAuthError) in try await signIn { _ in throw CancellationError() }
    }
    #expect(closed?.problem == .cancelled && closed?.isCancellation == true)
    let failed = await oauthFailure { () async throws(OAuthError) in try await signIn { _ in throw BrowserFailure() } }
    #expect(failed?.problem == .browserFailed && failed?.underlying is BrowserFailure)
    let empty = await oauthFailure { () async throws(OAuthError) in try await signIn { _ in nil } }
    #expect(empty?.problem == .browserFailed)
    let task = Task {
      await oauthFailure { () async throws(OAuthError) in
        try await signIn { _ in
          try await Gate().wait()
          return nil
        }
      }
    }
    task.cancel()
    #expect(await task.value?.problem == .cancelled)
  }

  @Test("A browser reaches the loopback listener")
  func loopback() async throws {
    let oauth = issuer.oauth()
    let transport = NIOTransport()
    let browser = ScriptedBrowser { page in
      let url = issuer.authorized(page)
      let client = Client(environment: Environment(baseURL: "http://127.0.0.1"), transport: transport)
      _ = try await client.send(Request<Content>(method: .get, path: .url(url), mapping: .content))
      return nil
    }
    let grant = try await oauth.signIn(scopes: ["a"], redirect: .loopback(path: "/back"), browser: browser)
    #expect(grant.scopes == ["a"])
    let redirect = try #require(issuer.forms("/token").first?["redirect_uri"])
    #expect(redirect.hasPrefix("http://127.0.0.1:") && redirect.hasSuffix("/back"))
    await transport.shutDown()
  }
}
