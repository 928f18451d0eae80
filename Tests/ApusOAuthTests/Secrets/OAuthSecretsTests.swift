#if OAuth
import Apus
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

/// Keeps the texts of all events and of the calls that they belong to.
private final class EventTexts: CallObserver {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    let shown = TestSupport.texts(of: event) + TestSupport.texts(of: call)
    texts.withLock { $0.append(shown) }
  }
}

@Suite("Secrets of a sign-in are in no text")
struct OAuthSecretsTests {
  private let issuer = FakeIssuer()
  private let events = EventTexts()
  private static let clientSecret = "sentinel-of-the-client"

  private var oauth: OAuthClient {
    var settings = ClientSettings()
    settings.runtime.clock = issuer.clock
    settings.observers = [events]
    let client = Client(
      environment: Environment(baseURL: "https://api.example.com"), transport: issuer.stub, settings: settings)
    var oauth = OAuthClient(id: "app", server: issuer.server, using: client, now: { FakeIssuer.now })
    oauth.authentication = .post(Secret(Self.clientSecret))
    return oauth
  }

  /// What the requests and the tokens must not show.
  private func secrets(_ tokens: Tokens?) -> [String] {
    let sent = issuer.forms("/token").flatMap { form in
      ["code", "code_verifier", "client_secret", "refresh_token", "device_code"].compactMap { form[$0] }
    }
    let kept = [tokens?.access, tokens?.refresh, tokens?.idToken, tokens?.proofKey].compactMap { $0?.value }
    return (sent + kept).filter { $0 != "device" }
  }

  private func check(_ shown: String, _ tokens: Tokens?, _ what: String) {
    for secret in secrets(tokens) { #expect(!shown.contains(secret), "\(what) shows a secret") }
  }

  @Test("No text of a sign-in, a refresh, a revocation and their events shows a secret", arguments: [false, true])
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
      for text in events.all { check(text, tokens, "an event") }
    }
    #expect(!events.all.isEmpty)
  }

  @Test(
    "No text of an error shows a secret that the server repeats",
    arguments: [(400, "invalid_grant"), (401, "invalid_client"), (400, "other"), (503, ""), (200, "")])
  func rejected(status: Int, error: String) async throws {
    let oauth = oauth
    let grant = try await { () async throws(OAuthError) in
      let authorization = try await oauth.authorization(scopes: ["openid"], redirect: "app:/done")
      return try await oauth.finish(authorization, with: issuer.authorized(authorization.page))
    }()
    let repeated = secrets(grant.tokens).joined(separator: " ")
    issuer.state.withLock {
      $0.answers = [
        (status, error.isEmpty ? repeated : "{\"error\":\"\(error)\",\"error_description\":\"\(repeated)\"}")
      ]
    }
    let failure = await oauthFailure { () async throws(OAuthError) in try await oauth.refreshed(grant.tokens) }
    let found = try #require(failure)
    check(texts(of: found) + found.localizedDescription, grant.tokens, "the error")
    for text in events.all { check(text, grant.tokens, "an event") }
  }
}
#endif
