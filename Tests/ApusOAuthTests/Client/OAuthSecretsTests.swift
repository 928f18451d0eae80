import Apus
import ApusTesting
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

/// A recorder of the descriptions of all events and of their calls.
private final class EventTexts: CallObserver {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    let shown = TestSupport.texts(of: event) + TestSupport.texts(of: call)
    texts.withLock { $0.append(shown) }
  }
}

@Suite("Descriptions of a sign-in contain no secrets")
struct OAuthSecretsTests {
  private let issuer = FakeIssuer()
  private let events = EventTexts()
  private static let clientSecret = "sentinel-of-the-client"

  private let log = LogRecorder()

  private var oauth: OAuthClient {
    var settings = ClientSettings()
    settings.runtime.clock = issuer.clock
    settings.observers = [events, RequestLogging(log.logger(), showsPaths: true)]
    let client = Client(
      environment: Environment(baseURL: "https://api.example.com"),
      pipeline: [.transport: ContentLoggingMiddleware(log.logger())], transport: issuer.stub, settings: settings)
    var server = issuer.server
    server.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par"
    var oauth = OAuthClient(id: "app", server: server, using: client, now: { FakeIssuer.now })
    oauth.authentication = .post(Secret(Self.clientSecret))
    return oauth
  }

  /// Returns the secrets in the requests and the tokens, which no description may contain.
  private func secrets(_ tokens: Tokens?) -> [String] {
    let sent = issuer.forms("/token").flatMap { form in
      ["code", "code_verifier", "client_secret", "client_assertion", "refresh_token", "device_code"]
        .compactMap { form[$0] }
    }
    let kept = [tokens?.access, tokens?.refresh, tokens?.idToken, tokens?.proofKey].compactMap { $0?.value }
    return sent + kept + issuer.state.withLock { $0.issued }
  }

  private func checkLogsAndEvents(_ tokens: Tokens?) {
    for text in events.all { check(text, tokens, "an event") }
    for line in log.lines.all { check(line.text, tokens, "a log") }
    #expect(!events.all.isEmpty && !log.lines.all.isEmpty)
  }

  private func check(_ shown: String, _ tokens: Tokens?, _ what: String) {
    for secret in secrets(tokens) { #expect(!shown.contains(secret), "\(what) shows a secret") }
  }

  @Test("Results, logs and events of sign-in, refresh and revocation contain no secret", arguments: [false, true])
  func accepted(bindsTokens: Bool) async throws {
    var oauth = oauth
    oauth.bindsTokens = bindsTokens
    if bindsTokens { issuer.state.withLock { $0.changes["token_type"] = "DPoP" } }
    let authorization = try await oauth.authorization(scopes: ["openid"], redirect: "app:/done")
    let grant = try await oauth.finish(authorization, with: issuer.authorized(authorization.page))
    let refreshed = try await oauth.refreshed(grant.tokens)
    try await oauth.revoke(refreshed)
    #expect(secrets(grant.tokens).contains(Self.clientSecret) && secrets(grant.tokens).count >= 6)
    for tokens in [grant.tokens, refreshed] {
      check(texts(of: oauth), tokens, "the client")
      check(texts(of: authorization), tokens, "the authorization")
      check(texts(of: grant), tokens, "the grant")
      check(texts(of: tokens), tokens, "the tokens")
      checkLogsAndEvents(tokens)
    }
  }

  @Test("Results, logs and events of a sign-in on another device, or of a client without a user, contain no secret")
  func otherFlows() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    var oauth = oauth
    for authentication in [ClientAuthentication.post(Secret(Self.clientSecret)), try .privateKey(pem: Secret(pem))] {
      oauth.authentication = authentication
      let prompts = Log<DevicePrompt>()
      let client = oauth
      let signIn = Task { try await client.signInOnAnotherDevice(scopes: ["a"]) { prompts.add($0) } }
      try await issuer.clock.waitForSleepers(1)
      issuer.clock.advance(by: .seconds(5))
      let grant = try await signIn.value
      let own = try await oauth.clientCredentials()
      #expect(secrets(grant.tokens).contains("sentinel-of-the-device"))
      for (found, tokens) in [(grant, grant.tokens), (own, own.tokens)] {
        check(texts(of: found) + texts(of: oauth), tokens, "the grant")
        checkLogsAndEvents(tokens)
      }
    }
    #expect(!texts(of: oauth).contains("PRIVATE KEY"))
  }

  @Test("The error about a refused ID token does not contain the token")
  func refusedIDToken() async throws {
    issuer.state.withLock { $0.claims["nonce"] = "sentinel-of-another" }
    let oauth = oauth
    let failure = await oauthFailure { () async throws(OAuthError) in
      let authorization = try await oauth.authorization(scopes: ["openid"], redirect: "app:/done")
      return try await oauth.finish(authorization, with: issuer.authorized(authorization.page))
    }
    let error = try #require(failure)
    #expect(error.step == .idToken && secrets(nil).contains { $0.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 })
    check(texts(of: error) + error.localizedDescription, nil, "the error")
    checkLogsAndEvents(nil)
  }

  @Test(
    "The description of an error does not contain a secret that the server repeats",
    arguments: [(400, "invalid_grant"), (401, "invalid_client"), (400, "other"), (503, ""), (200, "")])
  func rejected(status: Int, error: String) async throws {
    let oauth = oauth
    let grant = try await { () async throws(OAuthError) in
      let authorization = try await oauth.authorization(scopes: ["openid"], redirect: "app:/done")
      return try await oauth.finish(authorization, with: issuer.authorized(authorization.page))
    }()
    let repeated = secrets(grant.tokens).joined(separator: " ")
    issuer.state.withLock {
      $0.replies = [
        (status, error.isEmpty ? repeated : "{\"error\":\"\(error)\",\"error_description\":\"\(repeated)\"}")
      ]
    }
    let failure = await oauthFailure { () async throws(OAuthError) in try await oauth.refreshed(grant.tokens) }
    let found = try #require(failure)
    check(texts(of: found) + found.localizedDescription, grant.tokens, "the error")
    checkLogsAndEvents(grant.tokens)
  }
}
