#if os(Linux)
import Apus
import ApusNIO
import ApusOAuth
import Foundation
import Testing

/// Sign-ins at an authorization server built with Authlib. The server requires PKCE, rotates refresh tokens and revokes
/// a sign-in whose refresh token is used twice. The browser is a script.
@Suite("OAuth with an independent authorization server", .needs(.oauth), .timeLimit(.minutes(5)))
struct OAuthTests {
  private func refreshes(_ bench: OAuthBench) async throws -> Int {
    let log: [[JSONValue]] = try await bench.client.send(Request.get("/log"))
    return log.count { $0.first == "refresh_token" && $0.last?.string == bench.oauth.id }
  }

  @Test("A user signs in with PKCE through the listener, and the ID token's RS256 signature is verified")
  func code() async throws {
    try await withOAuth { bench in
      let grant = try await bench.signIn(scopes: ["openid", "films:read", "films:write"])
      #expect(grant.scopes == ["openid", "films:read"] && grant.missingScopes == ["films:write"])
      #expect(grant.identity?.subject == "user-1" && grant.identity?.name == "Ada")
      let found: OAuthBench.Films = try await bench.api(MemoryCredentialsStore(.tokens(grant.tokens))).send(
        Request.get("/api"))
      #expect(found.client == "app" && found.scope == "openid films:read")
    }
  }

  @Test(
    "The signature of an ID token, and the access token's hash in it, are verified with each algorithm",
    arguments: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"])
  func algorithms(name: String) async throws {
    try await withOAuth(id: "app-\(name)") { bench in
      #expect(bench.oauth.server.idTokenAlgorithms?.contains(name) == true)
      let grant = try await bench.signIn()
      #expect(grant.identity?.subject == "user-1" && grant.identity?["at_hash"] != nil)
      let header = try #require(grant.tokens.idToken?.value.split(separator: ".").first)
      #expect(try JSONValue(parsing: base64URL(header))["alg"]?.string == name)
    }
  }

  private func base64URL(_ text: Substring) throws -> Data {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    return try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
  }

  @Test("A user who declines ends the sign-in with access_denied")
  func denied() async throws {
    try await withOAuth { bench in
      let error = await #expect(throws: OAuthError.self) {
        try await bench.oauth.signIn(
          scopes: ["films:read"], redirect: .loopback(), browser: ScriptedUser(client: bench.client, decision: "deny"))
      }
      #expect(error?.problem == .accessDenied && error?.step == .authorization)
    }
  }

  @Test("The server rejects a code without its verifier, a second use of a code, and an unknown client")
  func refused() async throws {
    try await withOAuth { bench in
      let first = try await bench.oauth.authorization(scopes: ["films:read"], redirect: "http://127.0.0.1:9/callback")
      let decided = try await bench.client.response(
        to: Request<Content>(method: .get, path: .url(first.page + "&decision=allow"), mapping: .content)
          .accepting(.any).redirects(.none))
      let redirect = try #require(decided.field("Location"))
      _ = try await bench.oauth.finish(first, with: redirect)
      // Uses the verifier of another authorization.
      let second = try await bench.oauth.authorization(scopes: ["films:read"], redirect: "http://127.0.0.1:9/callback")
      let state = second.page.split(separator: "&").first { $0.hasPrefix("state=") } ?? ""
      let forged = redirect.split(separator: "&").map { $0.hasPrefix("state=") ? state : $0 }.joined(separator: "&")
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.finish(second, with: forged) }
      #expect(error?.problem == .invalidGrant && error?.step == .token)
      let other = OAuthClient(id: "nobody", server: bench.oauth.server, using: bench.client)
      let unknown = await #expect(throws: OAuthError.self) { try await other.clientCredentials() }
      #expect(unknown?.problem == .invalidClient)
    }
  }

  @Test("A scope that the server does not support is rejected")
  func unknownScope() async throws {
    try await withOAuth(id: "service") { bench in
      var own = bench.oauth
      own.authentication = .basic("service-secret")
      let service = own
      let scope = await #expect(throws: OAuthError.self) { try await service.clientCredentials(scopes: ["films:burn"]) }
      #expect(scope?.problem == .invalidScope && scope?.step == .clientCredentials)
    }
  }

  @Test("200 parallel calls with an expired token refresh once, without triggering the server's reuse detection")
  func parallel() async throws {
    try await withOAuth(id: "parallel") { bench in
      let store = MemoryCredentialsStore(.tokens(try await bench.signIn().tokens))
      let client = try bench.api(store)
      for round in 1...3 {
        var tokens = try #require(store.current().credential?.tokens)
        tokens.lifetime = .zero
        store.set(.tokens(tokens), account: "user-1")
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<200 { group.addTask { let _: OAuthBench.Films = try await client.send(Request.get("/api")) } }
          try await group.waitForAll()
        }
        let count = try await refreshes(bench)
        #expect(count == round)
      }
    }
  }

  @Test("A refresh token that is used twice is rejected, and every token of the sign-in is revoked")
  func reuse() async throws {
    try await withOAuth { bench in
      let tokens = try await bench.signIn().tokens
      let next = try await bench.oauth.refreshed(tokens)
      for used in [tokens, next] {
        let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(used) }
        #expect(error?.problem == .invalidGrant && error?.step == .refresh)
      }
      let store = MemoryCredentialsStore(.tokens(next))
      let error = await failure { try await bench.api(store).send(Request<Void>.get("/api")) }
      #expect(error?.sessionEnd == .expired && store.current().credential == nil)
    }
  }

  @Test("A sign-out revokes the tokens")
  func revocation() async throws {
    try await withOAuth { bench in
      let tokens = try await bench.signIn().tokens
      let store = MemoryCredentialsStore(.tokens(tokens))
      try await bench.oauth.signOut(of: store)
      #expect(store.current().credential == nil)
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(tokens) }
      #expect(error?.problem == .invalidGrant)
      let response = try await bench.client.response(
        to: Request<Content>(method: .get, path: "/api", mapping: .content).accepting(.any)
          .field("Authorization", "Bearer \(tokens.access.value)", isSensitive: true))
      #expect(response.status == 401)
    }
  }

  @Test(
    "A user signs in on another device, even if the server requests slower polling",
    arguments: ["allow", "deny", "expire"])
  func device(decision: String) async throws {
    try await withOAuth { bench in
      let client = bench.client
      let result = await Result { () async throws(OAuthError) in
        try await bench.oauth.signInOnAnotherDevice(scopes: ["films:read"]) { prompt in
          guard let page = prompt.completePage else { return }
          let url = "\(page)&decision=\(decision)"
          _ = try? await client.send(Request<Content>(method: .get, path: .url(url), mapping: .content))
        }
      }
      switch result {
      case .success(let grant): #expect(decision == "allow" && grant.scopes == ["films:read"])
      case .failure(let error):
        #expect(decision != "allow" && error.problem == (decision == "deny" ? .accessDenied : .expiredToken))
      }
    }
  }

  @Test("A client with a secret gets tokens of its own; a wrong secret is rejected")
  func clientCredentials() async throws {
    try await withOAuth(id: "service") { bench in
      var oauth = bench.oauth
      for authentication in [ClientAuthentication.basic("service-secret"), .post("service-secret")] {
        oauth.authentication = authentication
        let grant = try await oauth.clientCredentials(scopes: ["films:read"])
        #expect(grant.scopes == ["films:read"])
      }
      oauth.authentication = .basic("wrong")
      let wrong = oauth
      let error = await #expect(throws: OAuthError.self) { try await wrong.clientCredentials() }
      #expect(error?.problem == .invalidClient && error?.status == 401)
    }
  }

  @Test("Bound tokens are accepted only with the proofs and nonces that the server requires, and with their key")
  func proofs() async throws {
    try await withOAuth(id: "bound") { bench in
      let tokens = try await bench.signIn().tokens
      #expect(tokens.proofKey != nil)
      let store = MemoryCredentialsStore(.tokens(tokens))
      let client = try bench.api(store)
      for _ in 0..<3 { let _: OAuthBench.Films = try await client.send(Request.get("/api?x=1")) }
      let next = try await bench.oauth.refreshed(tokens)
      #expect(next.proofKey == tokens.proofKey)
      let other = try await bench.signIn().tokens
      var stolen = next
      stolen.proofKey = other.proofKey
      let thief = stolen
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(thief) }
      #expect(error?.problem == .invalidGrant)
    }
  }
}

extension Credential {
  fileprivate var tokens: Tokens? {
    if case .tokens(let tokens) = self { tokens } else { nil }
  }
}

extension Result where Failure == OAuthError {
  fileprivate init(_ work: () async throws(OAuthError) -> Success) async {
    do throws(OAuthError) {
      self = .success(try await work())
    } catch {
      self = .failure(error)
    }
  }
}
#endif
