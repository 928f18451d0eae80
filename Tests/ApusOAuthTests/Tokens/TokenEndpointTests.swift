import Apus
import ApusTesting
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("The token endpoint")
struct TokenEndpointTests {
  private let issuer = FakeIssuer()

  @Test("A secret in Basic is form-encoded before Base64, and is not in the form")
  func basic() async throws {
    var oauth = OAuthClient(id: "a:pp é", server: issuer.server, using: issuer.client)
    oauth.authentication = .basic("p:w %")
    _ = try await oauth.clientCredentials(scopes: ["x", "y"])
    let exchange = try #require(issuer.stub.exchanges.last)
    #expect(exchange.fields[.authorization] == "Basic " + base64("a%3App+%C3%A9:p%3Aw+%25"))
    #expect(exchange.text == "grant_type=client_credentials&scope=x+y")
  }

  @Test("The form contains the client ID for a client without a secret, and for one with its secret in the form")
  func forms() async throws {
    var oauth = issuer.oauth()
    _ = try await oauth.clientCredentials()
    oauth.authentication = .post("s")
    _ = try await oauth.clientCredentials()
    let texts = issuer.stub.exchanges.map(\.text)
    #expect(
      texts == [
        "grant_type=client_credentials&client_id=app", "grant_type=client_credentials&client_id=app&client_secret=s",
      ])
    #expect(issuer.stub.exchanges.allSatisfy { $0.fields[.authorization] == nil })
  }

  @Test("A private key signs a new assertion for the issuer with each request")
  func assertion() async throws {
    let key = P256.Signing.PrivateKey()
    var oauth = issuer.oauth()
    oauth.authentication = try .privateKey(pem: Secret(key.pemRepresentation), keyID: "k")
    _ = try await oauth.clientCredentials()
    _ = try await oauth.clientCredentials()
    let tokens = issuer.forms("/token").compactMap { $0["client_assertion"] }.compactMap { SignedToken($0) }
    let token = try #require(tokens.first)
    #expect(token.keyID == "k" && token.claims["iss"] == "app" && token.claims["sub"] == "app")
    #expect(token.claims["aud"]?.string == FakeIssuer.issuer && token.claims["exp"] == 1_800_000_060)
    #expect(Set(tokens.compactMap { $0.claims["jti"]?.string }).count == 2)
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
    #expect(key.publicKey.isValidSignature(signature, for: token.message))
    #expect(throws: OAuthError.self) { try ClientAuthentication.privateKey(pem: "no key") }
  }

  private static let endpoints = ["/par", "/token", "/device", "/revoke"]

  /// Returns the audiences of the assertions that the endpoints receive.
  private func audiences(namesEndpoint: Bool) async throws -> [JSONValue?] {
    var oauth = issuer.oauth { $0.pushedAuthorizationEndpoint = FakeIssuer.issuer + "/par" }
    oauth.authentication = try .privateKey(
      pem: Secret(P256.Signing.PrivateKey().pemRepresentation), namesEndpoint: namesEndpoint)
    let client = oauth
    _ = try await client.authorization(scopes: ["a"], redirect: "app:/done")
    _ = try await client.clientCredentials()
    try await client.revoke(Tokens(access: "a"))
    let device = Task {
      await oauthFailure { () async throws(OAuthError) in
        try await client.signInOnAnotherDevice(scopes: []) { _ in }
      }
    }
    try await issuer.clock.waitForSleepers(1)
    device.cancel()
    _ = await device.value
    return Self.endpoints.map { path in
      issuer.forms(path).first?["client_assertion"].flatMap { SignedToken($0) }?.claims["aud"]
    }
  }

  @Test("Every endpoint gets an assertion for the issuer, which no other server would accept")
  func issuerAudience() async throws {
    #expect(try await audiences(namesEndpoint: false) == Self.endpoints.map { _ in .string(FakeIssuer.issuer) })
  }

  @Test("Each endpoint gets an assertion for its own URL if the app requests that")
  func endpointAudience() async throws {
    #expect(try await audiences(namesEndpoint: true) == Self.endpoints.map { .string(FakeIssuer.issuer + $0) })
  }

  @Test(
    "Each error code of a server becomes an error with its code and the step, even in a response with status 200",
    arguments: [200, 400, 401])
  func errors(status: Int) async throws {
    for code in OAuthError.Problem.allCases {
      issuer.state.withLock {
        $0.replies = [(status, "{\"error\":\"\(code.rawValue)\",\"error_description\":\"why\"}")]
      }
      let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
      #expect(error?.step == .clientCredentials && error?.status == status)
      #expect(error?.problem == OAuthError.Problem(registered: code.rawValue))
      #expect(error?.serverCode == code.rawValue && error?.serverMessage == "why")
      #expect(error.map { "\($0)".contains("why") } == false)
    }
  }

  @Test(
    "An invalid token response is malformed",
    arguments: [
      "{}", "[]", "x", #"{"access_token":"","token_type":"Bearer"}"#,
      #"{"access_token":"a b","token_type":"Bearer"}"#, #"{"access_token":7,"token_type":"Bearer"}"#,
      #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"DPoP"}"#, "error=a",
    ])
  func malformed(json: String) async {
    issuer.state.withLock { $0.replies = [(200, json)] }
    let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
    #expect(error?.problem == .malformedResponse)
  }

  @Test("The error of a failed call contains the cause")
  func unreachable() async {
    issuer.stub.onAny(reply: .failure(TransportError(.offline, requestState: .notSent)))
    let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
    #expect(error?.problem == .callFailed && (error?.underlying as? CallError)?.code == .offline)
    issuer.state.withLock { $0.replies = [(503, "busy")] }
  }

  @Test("The refresh token is revoked first, then the access token")
  func revocation() async throws {
    let tokens = Tokens(access: "a", refresh: "r")
    try await issuer.oauth().revoke(tokens)
    #expect(issuer.state.withLock { $0.revoked } == ["r", "a"])
    let error = await oauthFailure { () async throws(OAuthError) in
      try await issuer.oauth { $0.revocationEndpoint = nil }.revoke(tokens)
    }
    #expect(error?.problem == .missingEndpoint && error?.step == .revocation)
    let store = MemoryCredentialsStore(.tokens(tokens))
    try await issuer.oauth().signOut(of: store)
    #expect(store.current().credential == nil)
    #expect(issuer.state.withLock { $0.revoked.count } == 4)
  }

  @Test("A sign-out waits for a running refresh, and revokes the refreshed tokens")
  func signOutDuringRefresh() async throws {
    let store = WatchedStore(.tokens(Tokens(access: "a1", refresh: "r1")))
    let gate = Gate()
    let refresh = Task {
      try await store.withLock {
        let generation = store.current().generation
        try await gate.wait()
        _ = store.refresh(generation, to: .tokens(Tokens(access: "a2", refresh: "r2")))
      }
    }
    try await gate.waitForArrivals(1)
    let signOut = Task { try await issuer.oauth().signOut(of: store) }
    try await waitWhile(store.leases.value < 2)
    #expect(store.current().credential != nil && issuer.state.withLock { $0.revoked.isEmpty })
    gate.open()
    try await refresh.value
    try await signOut.value
    #expect(store.current().credential == nil)
    #expect(issuer.state.withLock { $0.revoked } == ["r2", "a2"])
  }

  @Test("A redirect of the token endpoint is not followed, because the form is secret")
  func redirect() async {
    issuer.stub.onAny(reply: .status(307, fields: [.location: "https://evil.example/"]))
    let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
    #expect(error?.problem == .callFailed && error?.status == 307)
    #expect(issuer.stub.exchanges.count == 1)
  }
}

/// A store that counts the requests for its lease.
private final class WatchedStore: RefreshableCredentialsStore {
  let leases = Counter()
  private let store: MemoryCredentialsStore

  init(_ credential: Credential) {
    store = MemoryCredentialsStore(credential)
  }

  func current() -> StoredCredential { store.current() }
  func set(_ credential: Credential) { store.set(credential) }
  func clear() { store.clear() }
  func refresh(_ generation: UInt64, to credential: Credential?) -> Bool { store.refresh(generation, to: credential) }

  func withLock(_ work: @Sendable () async throws -> Void) async throws {
    leases.add()
    try await store.withLock(work)
  }
}
