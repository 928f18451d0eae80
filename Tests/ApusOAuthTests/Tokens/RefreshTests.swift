import Apus
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Refresh with an OAuth client", .timeLimit(.minutes(5)))
struct OAuthRefreshTests {
  private let issuer = FakeIssuer()
  private let store = MemoryCredentialsStore()

  /// Returns a client of an API that accepts only the latest access token.
  private func api(_ oauth: OAuthClient, _ events: Log<SessionEnd> = Log()) -> Client {
    let accepted = issuer
    issuer.api { exchange in
      let newest = accepted.state.withLock { "Bearer access-\($0.count)" }
      return exchange.fields[.authorization] == newest ? .json("{}") : .status(401)
    }
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .oauth(oauth, store)
    configuration.onSessionEnd = events.add
    return Client(configuration: configuration, transport: issuer.stub)
  }

  private func sign(in oauth: OAuthClient) async throws -> Tokens {
    let grant = try await oauth.signIn(
      scopes: ["a", "openid"], redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) }
    )
    store.set(grant.tokens)
    return grant.tokens
  }

  @Test("200 parallel calls refresh once, and values that the server does not send again are kept")
  func parallel() async throws {
    let oauth = issuer.oauth()
    let first = try await sign(in: oauth)
    let client = api(oauth)
    issuer.state.withLock { $0.count += 1 }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { try await client.send(Request<Void>.get("/films")) } }
      try await group.waitForAll()
    }
    #expect(issuer.forms("/token").count { $0["grant_type"] == "refresh_token" } == 1)
    guard case .tokens(let tokens)? = store.current().credential else {
      Issue.record("the tokens are gone")
      return
    }
    #expect(tokens.access != first.access && tokens.refresh != first.refresh)
    #expect(tokens.scopes == ["a", "openid"] && tokens.idToken == first.idToken)
  }

  @Test(
    "A refresh that returns no refresh token, or an empty or null one, keeps the old refresh token",
    arguments: [
      "", #","refresh_token":"","id_token":"","scope":"""#, #","refresh_token":null"#, #","refresh_token":" ""#,
    ])
  func kept(members: String) async throws {
    let oauth = issuer.oauth()
    let first = try await sign(in: oauth)
    issuer.state.withLock { $0.replies = [(200, "{\"access_token\":\"a\",\"token_type\":\"Bearer\"\(members)}")] }
    let next = try await oauth.refreshed(first)
    #expect(next.refresh == first.refresh && next.idToken == first.idToken && next.scopes == first.scopes)
  }

  @Test("An empty refresh token in a store is treated as missing")
  func emptyToken() async throws {
    let tokens = Tokens(access: "a", refresh: "")
    let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().refreshed(tokens) }
    #expect(error?.problem == .invalidGrant && issuer.stub.exchanges.isEmpty)
    try await issuer.oauth().revoke(tokens)
    #expect(issuer.state.withLock { $0.revoked } == ["a"])
  }

  @Test("A refresh token that was already used ends the session once, with the server's error")
  func reused() async throws {
    let oauth = issuer.oauth()
    let tokens = try await sign(in: oauth)
    _ = try await oauth.refreshed(tokens)
    let events = Log<SessionEnd>()
    let client = api(oauth, events)
    for _ in 0..<3 {
      let error = await failure { try await client.send(Request<Void>.get("/films")) }
      #expect(error != nil)
      if let cause = error?.underlying as? OAuthError {
        #expect(cause.problem == .invalidGrant && cause.step == .refresh && cause.isPermanent)
        #expect(error?.sessionEnd == .expired)
      }
    }
    #expect(events.all.map(\.reason) == [.expired] && store.current().credential == nil)
    #expect(issuer.forms("/token").count { $0["grant_type"] == "refresh_token" } == 2)
  }

  @Test(
    "A temporary failure does not end the session",
    arguments: [(503, "busy"), (400, #"{"error":"temporarily_unavailable"}"#), (400, #"{"error":"invalid_request"}"#)])
  func passing(status: Int, json: String) async throws {
    let oauth = issuer.oauth()
    _ = try await sign(in: oauth)
    let client = api(oauth)
    issuer.state.withLock {
      $0.count += 1
      $0.replies = Array(repeating: (status, json), count: 10)
    }
    let error = await failure { try await client.send(Request<Void>.get("/films").timeout(.milliseconds(300))) }
    #expect(error != nil && error?.isSessionOver == false)
    #expect(store.current().credential != nil)
  }

  @Test("Tokens of the client itself are replaced by new tokens")
  func clientCredentials() async throws {
    let oauth = issuer.oauth()
    let store = MemoryCredentialsStore(.tokens(Tokens(access: "old")))
    issuer.api { exchange in
      exchange.fields[.authorization] == "Bearer sentinel-of-a-service" ? .json("{}") : .status(401)
    }
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .clientCredentials(oauth, store, scopes: ["x"])
    let client = Client(configuration: configuration, transport: issuer.stub)
    try await client.send(Request<Void>.get("/films"))
    #expect(issuer.forms("/token").map { $0["scope"] } == ["x"])
  }

  @Test("Tokens without a refresh token cannot be refreshed")
  func none() async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await issuer.oauth().refreshed(Tokens(access: "a"))
    }
    #expect(error?.problem == .invalidGrant && issuer.stub.exchanges.isEmpty)
  }
}
