#if os(Linux)
import Apus
import ApusNIO
import ApusOAuth
import Crypto
import Foundation
import Testing

/// Pushed authorization requests (RFC 9126) and clients that authenticate with a key (`private_key_jwt`), at an
/// authorization server built with Authlib.
@Suite("OAuth: pushed requests and client keys", .needs(.oauth), .timeLimit(.minutes(5)))
struct OAuthPushTests {
  private let redirect = "http://127.0.0.1:9/callback"

  private func status(_ page: String, _ bench: OAuthBench) async throws -> Int {
    try await bench.client.response(to: ScriptedUser.get(page).redirects(.none)).status
  }

  // MARK: Pushed requests

  @Test("A client that must push its requests signs in, and the page contains no parameter")
  func pushed() async throws {
    try await withOAuth(id: "pushed", pushes: true) { bench in
      let authorization = try await bench.oauth.authorization(scopes: ["films:read"], redirect: redirect)
      let query = try #require(URLComponents(string: authorization.page)?.queryItems)
      #expect(query.map(\.name) == ["client_id", "request_uri"])
      #expect(query.last?.value?.hasPrefix("urn:ietf:params:oauth:request_uri:") == true)
      let grant = try await bench.signIn()
      #expect(grant.identity?.subject == "user-1" && grant.scopes == ["openid", "films:read"])
      let found: OAuthBench.Films = try await bench.api(MemoryCredentialsStore(.tokens(grant.tokens)))
        .send(Request.get("/api"))
      #expect(found.client == "pushed")
    }
  }

  @Test("The server rejects a request that the client did not push")
  func direct() async throws {
    try await withOAuth(id: "pushed", pushes: false) { bench in
      let authorization = try await bench.oauth.authorization(scopes: ["films:read"], redirect: redirect)
      #expect(try await status(authorization.page, bench) == 400)
    }
  }

  @Test("A pushed request is valid for its client only, and can be used once")
  func onlyOnce() async throws {
    try await withOAuth(id: "pushed", pushes: true) { bench in
      let authorization = try await bench.oauth.authorization(scopes: ["films:read"], redirect: redirect)
      let other = authorization.page.replacing("client_id=pushed", with: "client_id=app")
      #expect(other != authorization.page)
      #expect(try await status(other, bench) == 400)
      #expect(try await status(authorization.page, bench) == 200)
      let answer = try await ScriptedUser(client: bench.client).decide(authorization.page)
      #expect(try await status(authorization.page, bench) == 400)
      let grant = try await bench.oauth.finish(authorization, with: try #require(answer))
      #expect(grant.scopes == ["films:read"])
    }
  }

  @Test("A request that the server rejects fails when it is pushed, before a page is opened")
  func refused() async throws {
    try await withOAuth(id: "pushed", pushes: true) { bench in
      for (id, redirect, code) in [
        ("pushed", "https://elsewhere.example/callback", OAuthError.Problem.invalidRequest),
        ("nobody", redirect, .invalidClient), ("signed", redirect, .invalidClient),
      ] {
        let oauth = OAuthClient(id: id, server: bench.oauth.server, using: bench.client)
        let error = await #expect(throws: OAuthError.self) {
          try await oauth.authorization(scopes: ["films:read"], redirect: redirect)
        }
        #expect(error?.step == .pushedAuthorization && error?.problem == code && error?.status == 400)
      }
    }
  }

  @Test("A pushed request proves possession of the key for the tokens, with the nonce that the server requires")
  func bound() async throws {
    try await withOAuth(id: "bound", pushes: true) { bench in
      let tokens = try await bench.signIn().tokens
      #expect(tokens.proofKey != nil)
      let found: OAuthBench.Films = try await bench.api(MemoryCredentialsStore(.tokens(tokens)))
        .send(Request.get("/api"))
      #expect(found.client == "bound")
    }
  }

  // MARK: Client keys

  /// Runs `body` with a client that authenticates with a key; `nil`: the registered key.
  private func withKey<Result>(
    _ pem: String? = nil, _ body: (OAuthBench) async throws -> Result
  ) async throws -> Result {
    try await withOAuth(id: "signed", pushes: true) { bench in
      let known = try await bench.client.send(ScriptedUser.get(bench.url + "/client-key")).string
      var oauth = bench.oauth
      oauth.authentication = try .privateKey(pem: Secret(pem ?? known), keyID: "client-key")
      return try await body(
        OAuthBench(client: bench.client, oauth: oauth, transport: bench.transport, url: bench.url))
    }
  }

  @Test("A client with a key can repeatedly request tokens of its own")
  func clientCredentials() async throws {
    try await withKey { bench in
      for _ in 0..<3 {
        let grant = try await bench.oauth.clientCredentials(scopes: ["films:read"])
        let found: OAuthBench.Films = try await bench.api(MemoryCredentialsStore(.tokens(grant.tokens)))
          .send(Request.get("/api"))
        #expect(found.client == "signed" && found.scope == "films:read")
      }
    }
  }

  @Test("A client with a key pushes its requests, signs a user in, refreshes and signs out")
  func signIn() async throws {
    try await withKey { bench in
      let grant = try await bench.signIn()
      #expect(grant.identity?.audience == ["signed"])
      let next = try await bench.oauth.refreshed(grant.tokens)
      #expect(next.access != grant.tokens.access)
      try await bench.oauth.revoke(next)
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(next) }
      #expect(error?.problem == .invalidGrant)
    }
  }

  @Test("A client key that is not registered is rejected at each endpoint")
  func wrongKey() async throws {
    let tokens = try await withKey { try await $0.signIn().tokens }
    try await withKey(P256.Signing.PrivateKey().pemRepresentation) { bench in
      let oauth = bench.oauth
      let works: [(OAuthError.Step, () async throws(OAuthError) -> Void)] = [
        (.clientCredentials, { () async throws(OAuthError) in _ = try await oauth.clientCredentials() }),
        (.pushedAuthorization, { () async throws(OAuthError) in _ = try await bench.signIn() }),
        (.refresh, { () async throws(OAuthError) in _ = try await oauth.refreshed(tokens) }),
        (.revocation, { () async throws(OAuthError) in try await oauth.revoke(tokens) }),
      ]
      for (step, work) in works {
        let error = await #expect(throws: OAuthError.self) { try await work() }
        #expect(error?.step == step && error?.problem == .invalidClient, "\(step)")
      }
    }
    // The tokens are still valid.
    _ = try await withKey { try await $0.oauth.refreshed(tokens) }
  }
}
#endif
