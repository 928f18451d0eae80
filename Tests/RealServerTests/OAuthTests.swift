#if NIO && OAuth && os(Linux)
import Apus
import ApusNIO
import ApusOAuth
import Foundation
import Testing

/// Sign-ins at an authorization server made with Authlib, which requires PKCE, rotates refresh tokens and revokes a
/// sign-in whose refresh token is used twice. The browser is a script.
@Suite("OAuth with an independent authorization server", .needs(.oauth), .timeLimit(.minutes(5)))
struct OAuthTests {
  /// A browser in which the user decides, and which follows the redirect.
  private struct Browser: AuthorizationBrowser {
    let client: Client
    var decision = "allow"

    func open(_ page: String, redirect: String) async throws -> String? {
      _ = try await client.send(Self.get(page))
      let decided = try await client.response(to: Self.get("\(page)&decision=\(decision)").redirects(.none))
      guard let location = decided.field("Location") else { return nil }
      _ = try await client.send(Self.get(location))
      return nil
    }

    private static func get(_ url: String) -> Request<Content> {
      Request(method: .get, path: .url(url), mapping: .content).accepting(.any)
    }
  }

  private struct API: Decodable, Sendable {
    let client: String
    let scope: String
  }

  private typealias Bench = (client: Client, oauth: OAuthClient, transport: any Transport, url: String)

  private func withBench<Result>(
    id: String = "app", _ body: (Bench) async throws -> Result
  ) async throws -> Result {
    let url = try await RealServer.oauth.value.url()
    return try await withTransport(.nio) { transport in
      let client = Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport)
      let server = try await AuthorizationServer.discover(url, using: client)
      var oauth = OAuthClient(id: id, server: server, using: client)
      oauth.bindsTokens = id == "bound"
      return try await body((client, oauth, transport, url))
    }
  }

  private func signIn(_ bench: Bench, scopes: [String] = ["openid", "films:read"]) async throws -> OAuthGrant {
    try await bench.oauth.signIn(scopes: scopes, redirect: .loopback(), browser: Browser(client: bench.client))
  }

  private func api(_ bench: Bench, _ store: MemoryCredentialsStore) throws -> Client {
    var configuration = Configuration(baseURL: try BaseURL(bench.url))
    configuration.timeout = .seconds(200)
    configuration.attemptTimeout = nil
    configuration.authentication = .oauth(bench.oauth, store)
    return Client(configuration: configuration, transport: bench.transport)
  }

  private func refreshes(_ bench: Bench) async throws -> Int {
    let log: [[JSONValue]] = try await bench.client.send(Request.get("/log"))
    return log.count { $0.first == "refresh_token" && $0.last?.string == bench.oauth.id }
  }

  @Test("A user signs in with PKCE through the listener, and the ID token's RS256 signature is verified")
  func code() async throws {
    try await withBench { bench in
      let grant = try await signIn(bench, scopes: ["openid", "films:read", "films:write"])
      #expect(grant.scopes == ["openid", "films:read"] && grant.missingScopes == ["films:write"])
      #expect(grant.identity?.subject == "user-1" && grant.identity?.name == "Ada")
      let found: API = try await api(bench, MemoryCredentialsStore(.tokens(grant.tokens))).send(Request.get("/api"))
      #expect(found.client == "app" && found.scope == "openid films:read")
    }
  }

  @Test("A user who declines ends the sign-in with access_denied")
  func denied() async throws {
    try await withBench { bench in
      let error = await #expect(throws: OAuthError.self) {
        try await bench.oauth.signIn(
          scopes: ["films:read"], redirect: .loopback(), browser: Browser(client: bench.client, decision: "deny"))
      }
      #expect(error?.code == .accessDenied && error?.step == .authorization)
    }
  }

  @Test("The server refuses a code without its verifier, a second use of a code, and an unknown client")
  func refused() async throws {
    try await withBench { bench in
      let first = try await bench.oauth.authorization(scopes: ["films:read"], redirect: "http://127.0.0.1:9/callback")
      let decided = try await bench.client.response(
        to: Request<Content>(method: .get, path: .url(first.page + "&decision=allow"), mapping: .content)
          .accepting(.any).redirects(.none))
      let redirect = try #require(decided.field("Location"))
      _ = try await bench.oauth.finish(first, with: redirect)
      // The verifier of another authorization.
      let second = try await bench.oauth.authorization(scopes: ["films:read"], redirect: "http://127.0.0.1:9/callback")
      let state = second.page.split(separator: "&").first { $0.hasPrefix("state=") } ?? ""
      let forged = redirect.split(separator: "&").map { $0.hasPrefix("state=") ? state : $0 }.joined(separator: "&")
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.finish(second, with: forged) }
      #expect(error?.code == .invalidGrant && error?.step == .token)
      let other = OAuthClient(id: "nobody", server: bench.oauth.server, using: bench.client)
      let unknown = await #expect(throws: OAuthError.self) { try await other.clientCredentials() }
      #expect(unknown?.code == .invalidClient)
    }
  }

  @Test("200 parallel calls with an expired token refresh once, and the server's reuse detection is never met")
  func parallel() async throws {
    try await withBench(id: "parallel") { bench in
      let store = MemoryCredentialsStore(.tokens(try await signIn(bench).tokens))
      let client = try api(bench, store)
      for round in 1...3 {
        var tokens = try #require(store.current().credential?.tokens)
        tokens.lifetime = .zero
        store.set(.tokens(tokens), account: "user-1")
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<200 { group.addTask { let _: API = try await client.send(Request.get("/api")) } }
          try await group.waitForAll()
        }
        let count = try await refreshes(bench)
        #expect(count == round)
      }
    }
  }

  @Test("A refresh token that is used twice is refused, and with it every token of the sign-in")
  func reuse() async throws {
    try await withBench { bench in
      let tokens = try await signIn(bench).tokens
      let next = try await bench.oauth.refreshed(tokens)
      for used in [tokens, next] {
        let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(used) }
        #expect(error?.code == .invalidGrant && error?.step == .refresh)
      }
      let store = MemoryCredentialsStore(.tokens(next))
      let error = await failure { try await api(bench, store).send(Request<Void>.get("/api")) }
      #expect(error?.sessionEnd == .expired && store.current().credential == nil)
    }
  }

  @Test("A sign-out revokes the tokens")
  func revocation() async throws {
    try await withBench { bench in
      let tokens = try await signIn(bench).tokens
      let store = MemoryCredentialsStore(.tokens(tokens))
      try await bench.oauth.signOut(of: store)
      #expect(store.current().credential == nil)
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(tokens) }
      #expect(error?.code == .invalidGrant)
      let response = try await bench.client.response(
        to: Request<Content>(method: .get, path: "/api", mapping: .content).accepting(.any)
          .field("Authorization", "Bearer \(tokens.access.value)", isSensitive: true))
      #expect(response.status == 401)
    }
  }

  @Test("A user signs in on another device, also after the server asks to slow down", arguments: ["allow", "deny"])
  func device(decision: String) async throws {
    try await withBench { bench in
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
      case .failure(let error): #expect(decision == "deny" && error.code == .accessDenied)
      }
    }
  }

  @Test("A client with a secret gets tokens of its own; a wrong secret is refused")
  func clientCredentials() async throws {
    try await withBench(id: "service") { bench in
      var oauth = bench.oauth
      for authentication in [ClientAuthentication.basic("service-secret"), .post("service-secret")] {
        oauth.authentication = authentication
        let grant = try await oauth.clientCredentials(scopes: ["films:read"])
        #expect(grant.scopes == ["films:read"])
      }
      oauth.authentication = .basic("wrong")
      let wrong = oauth
      let error = await #expect(throws: OAuthError.self) { try await wrong.clientCredentials() }
      #expect(error?.code == .invalidClient && error?.status == 401)
    }
  }

  @Test("Bound tokens work with the proofs and nonces that the server demands, and only with their key")
  func proofs() async throws {
    try await withBench(id: "bound") { bench in
      let tokens = try await signIn(bench).tokens
      #expect(tokens.proofKey != nil)
      let store = MemoryCredentialsStore(.tokens(tokens))
      let client = try api(bench, store)
      for _ in 0..<3 { let _: API = try await client.send(Request.get("/api?x=1")) }
      let next = try await bench.oauth.refreshed(tokens)
      #expect(next.proofKey == tokens.proofKey)
      let other = try await signIn(bench).tokens
      var stolen = next
      stolen.proofKey = other.proofKey
      let thief = stolen
      let error = await #expect(throws: OAuthError.self) { try await bench.oauth.refreshed(thief) }
      #expect(error?.code == .invalidGrant)
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
