import Apus
import ApusTesting
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Proofs of possession", .timeLimit(.minutes(5)))
struct ProofTests {
  private let issuer = FakeIssuer()

  private var oauth: OAuthClient {
    var oauth = issuer.oauth()
    oauth.bindsTokens = true
    return oauth
  }

  private func use(nonce: String? = nil, token: String? = nil) -> ProofKey.Use {
    ProofKey.Use(
      method: "POST", url: "https://id.example.com/token", date: FakeIssuer.now, id: "i", nonce: nonce,
      accessToken: token)
  }

  /// Returns the claims of a proof, after verifying the signature with the key in the proof.
  private func claims(_ proof: String?) throws -> [String: JSONValue] {
    let text = try #require(proof)
    let token = try #require(SignedToken(text))
    let header = try JSONValue(parsing: try #require(Base64URL.decode(text.prefix { $0 != "." })))
    #expect(header["typ"] == "dpop+jwt" && header["alg"] == "ES256" && header["jwk"]?["d"] == nil)
    let key = try #require(JSONWebKey(header["jwk"] ?? [:]))
    #expect(key.verifies(token.signature, of: token.message, .es256))
    return try #require(token.claims.object)
  }

  private func proof(_ exchange: StubExchange) -> String? { HTTPField.Name("DPoP").flatMap { exchange.fields[$0] } }

  @Test("A proof states method, URL, time, ID, nonce and token, and is signed by the key in it")
  func claims() throws {
    let key = ProofKey()
    #expect(
      try claims(key.proof(for: use())) == [
        "htm": "POST", "htu": "https://id.example.com/token", "iat": 1_800_000_000, "jti": "i",
      ])
    let full = try claims(key.proof(for: use(nonce: "n", token: "t")))
    #expect(full["nonce"] == "n" && full["ath"]?.string == Base64URL.encode(SHA256.hash(data: Data("t".utf8))))
    #expect(ProofKey(key.secret)?.thumbprint == key.thumbprint && key.thumbprint.utf8.count == 43)
    for text in ["", "x", "AAAA"] { #expect(ProofKey(Secret(text)) == nil) }
  }

  private func signIn(_ oauth: OAuthClient) async throws(OAuthError) -> OAuthGrant {
    issuer.state.withLock { $0.changes["token_type"] = "DPoP" }
    return try await oauth.signIn(
      scopes: ["a"], redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) })
  }

  @Test("A sign-in announces its key, proves its possession to the token endpoint and stores it with the tokens")
  func signIn() async throws {
    let grant = try await signIn(oauth)
    let stored = try #require(grant.tokens.proofKey)
    let exchange = try #require(issuer.stub.exchanges.last)
    #expect(try claims(proof(exchange))["htu"]?.string == FakeIssuer.issuer + "/token")
    #expect(try claims(proof(exchange))["nonce"] == nil)
    let other = try await signIn(oauth)
    #expect(other.tokens.proofKey != stored)
  }

  @Test("A required nonce is sent immediately, and in the first request from then on")
  func nonce() async throws {
    let oauth = oauth
    issuer.state.withLock { $0.proofNonce = "n1" }
    let grant = try await signIn(oauth)
    #expect(issuer.forms("/token").count == 2)
    _ = try await oauth.refreshed(grant.tokens)
    #expect(issuer.forms("/token").count == 3)
    let proofs = try issuer.stub.exchanges.map { try claims(proof($0)) }
    #expect(proofs.map { $0["nonce"]?.string } == [nil, "n1", "n1"])
    #expect(Set(proofs.map { $0["jti"] }).count == 3)
  }

  @Test("A server that rejects every nonce ends the sign-in after one more request")
  func endless() async throws {
    issuer.stub.on(
      .post, "/token",
      reply: .json(
        #"{"error":"use_dpop_nonce"}"#, status: 400, fields: [try #require(HTTPField.Name("DPoP-Nonce")): "n"]))
    let error = await oauthFailure { () async throws(OAuthError) in try await signIn(oauth) }
    #expect(error?.problem == .useDPoPNonce && issuer.forms("/token").count == 2)
  }

  @Test("A server that supports only other proof algorithms receives no request")
  func unsupported() async {
    for algorithms in [["RS256", "EdDSA"], ["es256"], []] {
      var oauth = issuer.oauth {
        $0.proofAlgorithms = algorithms
        $0.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par"
      }
      oauth.bindsTokens = true
      let client = oauth
      let works: [(OAuthError.Step, () async throws(OAuthError) -> Void)] = [
        (.authorization, { () async throws(OAuthError) in _ = try await signIn(client) }),
        (.clientCredentials, { () async throws(OAuthError) in _ = try await client.clientCredentials() }),
        (
          .deviceAuthorization,
          { () async throws(OAuthError) in _ = try await client.signInOnAnotherDevice(scopes: []) { _ in } }
        ),
      ]
      for (step, work) in works {
        let error = await oauthFailure(work)
        #expect(error?.problem == .invalidMetadata && error?.step == step)
        #expect(error?.detail == "the server supports no proof of possession with ES256")
      }
    }
    #expect(issuer.stub.exchanges.isEmpty)
  }

  @Test("A server that states ES256 or no algorithms gets proofs; without proofs the algorithms are ignored")
  func supported() async throws {
    for algorithms in [["EdDSA", "ES256"], nil] {
      var oauth = issuer.oauth { $0.proofAlgorithms = algorithms }
      oauth.bindsTokens = true
      #expect(try await signIn(oauth).tokens.proofKey != nil)
    }
    #expect(try await issuer.oauth { $0.proofAlgorithms = ["EdDSA"] }.clientCredentials().tokens.proofKey == nil)
  }

  @Test("A server that ignores the proof is refused")
  func ignored() async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await oauth.signIn(
        scopes: ["a"], redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) })
    }
    #expect(error?.problem == .malformedResponse)
  }

  @Test("An accepted unbound access token is sent as Bearer, and refreshed with the proof of the key")
  func acceptsBearer() async throws {
    var oauth = oauth
    oauth.acceptsBearer = true
    let client = oauth
    let grant = try await client.signIn(
      scopes: ["a"], redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) })
    let store = MemoryCredentialsStore(.tokens(grant.tokens))
    let dpop = try #require(HTTPField.Name("DPoP"))
    let first = "Bearer " + grant.tokens.access.value
    issuer.api { exchange in
      exchange.fields[.authorization] == first
        ? .status(401, fields: [.wwwAuthenticate: #"Bearer error="invalid_token""#]) : .json("{}")
    }
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .oauth(client, store)
    try await Client(configuration: configuration, transport: issuer.stub).send(Request<Void>.get("/films"))
    let calls = issuer.stub.exchanges.filter { $0.target == "/films" }
    #expect(calls.map(\.status) == [401, 200] && calls.allSatisfy { $0.fields[dpop] == nil })
    #expect(calls.allSatisfy { $0.fields[.authorization]?.hasPrefix("Bearer ") == true })
    // The refresh token of a client without a secret is bound (RFC 9449 §5).
    let headers = issuer.stub.exchanges.filter { $0.target == "/token" }.compactMap { exchange in
      proof(exchange).flatMap { Base64URL.decode($0.prefix { $0 != "." }) }
    }
    let keys = try headers.map { try JSONValue(parsing: $0)["jwk"] }
    #expect(keys.count == 2 && keys[0] == keys[1])
    // From now on the server binds its access tokens.
    issuer.state.withLock { $0.changes["token_type"] = "DPoP" }
    guard case .tokens(let tokens)? = store.current().credential else {
      Issue.record("the tokens are gone")
      return
    }
    store.set(.tokens(try await client.refreshed(tokens)))
    try await Client(configuration: configuration, transport: issuer.stub).send(Request<Void>.get("/films"))
    let last = try #require(issuer.stub.exchanges.last)
    #expect(last.fields[.authorization]?.hasPrefix("DPoP ") == true && last.fields[dpop] != nil)
  }

  @Test("A refresh that returns an unbound access token fails unless the app accepts such tokens")
  func refreshedBearer() async throws {
    let oauth = oauth
    let grant = try await signIn(oauth)
    issuer.state.withLock { $0.changes["token_type"] = "Bearer" }
    let error = await oauthFailure { () async throws(OAuthError) in try await oauth.refreshed(grant.tokens) }
    #expect(error?.step == .refresh && error?.problem == .malformedResponse)
  }

  @Test("A proof states the URL to which it is sent, at each endpoint")
  func endpoints() async throws {
    var oauth = issuer.oauth { $0.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par" }
    oauth.bindsTokens = true
    let grant = try await signIn(oauth)
    _ = try await oauth.refreshed(grant.tokens)
    let exchanges = issuer.stub.exchanges.filter { ["/par", "/token"].contains($0.target) }
    #expect(exchanges.map(\.target) == ["/par", "/token", "/token"])
    for exchange in exchanges {
      #expect(try claims(proof(exchange))["htu"]?.string == FakeIssuer.issuer + exchange.target)
    }
  }

  @Test("Each message to the API has a new proof for its token, with the API's nonce, and no refresh is made")
  func resources() async throws {
    let oauth = oauth
    let grant = try await signIn(oauth)
    let store = MemoryCredentialsStore(.tokens(grant.tokens))
    let name = try #require(HTTPField.Name("DPoP-Nonce"))
    let dpop = try #require(HTTPField.Name("DPoP"))
    issuer.api { exchange in
      let proof = exchange.fields[dpop].flatMap { SignedToken($0) }
      guard proof?.claims["nonce"] == "api" else {
        return .status(401, fields: [name: "api", .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#])
      }
      return .json("{}", fields: [name: "api"])
    }
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .oauth(oauth, store)
    let client = Client(configuration: configuration, transport: issuer.stub)
    for _ in 0..<2 { try await client.send(Request<Void>.post("/films?secret=1")) }
    let calls = issuer.stub.exchanges.filter { $0.target.hasPrefix("/films") }
    #expect(calls.map(\.status) == [401, 200, 200])
    let token = grant.tokens.access.value
    for call in calls {
      #expect(call.fields[.authorization] == "DPoP " + token)
      let claims = try claims(proof(call))
      #expect(claims["htu"] == "https://api.example.com/films" && claims["htm"] == "POST")
      #expect(claims["ath"]?.string == Base64URL.encode(SHA256.hash(data: Data(token.utf8))))
    }
    #expect(issuer.forms("/token").count == 1)
  }

  @Test("An expired bound token is refreshed with its key")
  func refresh() async throws {
    let oauth = oauth
    let grant = try await signIn(oauth)
    let store = MemoryCredentialsStore(.tokens(grant.tokens))
    let token = grant.tokens.access.value
    issuer.api { exchange in
      exchange.fields[.authorization] == "DPoP " + token
        ? .status(401, fields: [.wwwAuthenticate: #"DPoP error="invalid_token""#]) : .json("{}")
    }
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .oauth(oauth, store)
    let client = Client(configuration: configuration, transport: issuer.stub)
    try await client.send(Request<Void>.get("/films"))
    guard case .tokens(let tokens)? = store.current().credential else {
      Issue.record("the tokens are gone")
      return
    }
    #expect(tokens.access != grant.tokens.access && tokens.proofKey == grant.tokens.proofKey)
  }
}
