import Apus
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Requested claims of ID tokens")
struct IDTokenClaimsTests {
  private let issuer = FakeIssuer()

  /// Signs a user in. The server's ID token has other claims.
  private func signIn(
    _ parameters: [String: String] = [:], scopes: [String] = ["openid"], claims: [String: JSONValue?],
    _ change: (inout AuthorizationServer) -> Void = { _ in }
  ) async throws(OAuthError) -> OAuthGrant {
    issuer.state.withLock { $0.claims = claims }
    return try await issuer.oauth(change).signIn(
      scopes: scopes, redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) },
      parameters: parameters)
  }

  // MARK: The age of the authentication

  @Test(
    "A user who authenticated longer ago than requested is refused",
    arguments: [
      ("300", ["auth_time": 1_799_999_639]), ("0", ["auth_time": 1_799_999_939]), ("300", [:]),
      ("300", ["auth_time": .null]), ("300", ["auth_time": "yesterday"]), ("300", ["auth_time": 1_800_000_061]),
      ("300", ["auth_time": "1799999639"]),
    ] as [(String, [String: JSONValue])])
  func old(limit: String, claims: [String: JSONValue]) async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await signIn(["max_age": limit], claims: claims.mapValues { $0 })
    }
    #expect(error?.step == .idToken && error?.problem == .invalidIDToken)
  }

  @Test(
    "A user who authenticated within the requested age is accepted; without a requested age any user is accepted",
    arguments: [
      ("300", ["auth_time": 1_799_999_640]), ("300", ["auth_time": "1799999640"]), ("0", ["auth_time": 1_799_999_940]),
      ("0", ["auth_time": 1_800_000_060]), (nil, ["auth_time": 1]), (nil, [:]),
    ] as [(String?, [String: JSONValue])])
  func recent(limit: String?, claims: [String: JSONValue]) async throws {
    let parameters = limit.map { ["max_age": $0] } ?? [:]
    let grant = try await signIn(parameters, claims: claims.mapValues { $0 })
    #expect(grant.identity?.subject == "user-1")
    #expect((grant.identity?.authenticated != nil) == (claims["auth_time"] != nil))
  }

  @Test("The limit max_age applies to the start of the sign-in, so that a slow sign-in is accepted")
  func slow() async throws {
    let now = Log<Date>()
    now.add(FakeIssuer.now)
    let oauth = OAuthClient(
      id: "app", server: issuer.server, using: issuer.client, now: { now.all.last ?? FakeIssuer.now })
    issuer.state.withLock { $0.claims = ["auth_time": 1_800_000_001, "iat": 1_800_000_200] }
    let authorization = try await oauth.authorization(
      scopes: ["openid"], redirect: "app:/done", parameters: ["max_age": "0"])
    now.add(FakeIssuer.now.addingTimeInterval(200))
    #expect(try await oauth.finish(authorization, with: issuer.authorized(authorization.page)).identity != nil)
  }

  @Test(
    "An age that is not a number of seconds is refused before a page is opened", arguments: ["", "-1", "1h", "1.5"])
  func malformed(limit: String) async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await signIn(["max_age": limit], claims: [:])
    }
    #expect(error?.step == .authorization && error?.problem == .invalidRequest)
    #expect(issuer.stub.exchanges.isEmpty)
  }

  // MARK: Contexts

  @Test("The class of the authentication can be read, and an empty claim is treated as missing")
  func context() async throws {
    let grant = try await signIn(claims: ["acr": "urn:mfa", "email": "", "name": .null])
    #expect(grant.identity?["acr"] == "urn:mfa")
    #expect(grant.identity?.email == nil && grant.identity?.name == nil)
    #expect(try await signIn(claims: ["acr": ""]).identity?["acr"] == nil)
    #expect(try await signIn(claims: [:]).identity?["acr"] == nil)
  }

  // MARK: Tenants

  private static let pattern = "https://id.example.com/{tenantid}/v2.0"

  @Test("With an issuer pattern, the issuer contains the tenant that the token states")
  func tenant() async throws {
    let iss = "https://id.example.com/t-1/v2.0"
    let grant = try await signIn(claims: ["iss": .string(iss), "tid": "t-1"]) {
      $0.issuerPattern = Self.pattern
    }
    #expect(grant.identity?.issuer == iss)
  }

  @Test(
    "With an issuer pattern, no other issuer is accepted",
    arguments: [
      ["iss": "https://id.example.com/t-1/v2.0"], ["iss": "https://id.example.com/t-1/v2.0", "tid": "t-2"],
      ["iss": "https://id.example.com/t-1/v2.0", "tid": "T-1"],
      ["iss": "https://id.example.com/t/1/v2.0", "tid": "t/1"],
      ["iss": "https://id.example.com//v2.0", "tid": ""], ["iss": "https://evil.example/t-1/v2.0", "tid": "t-1"],
      ["tid": "t-1"], ["iss": nil, "tid": "t-1"], ["iss": "https://id.example.com/7/v2.0", "tid": 7],
    ] as [[String: JSONValue?]])
  func otherTenant(claims: [String: JSONValue?]) async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await signIn(claims: claims) { $0.issuerPattern = Self.pattern }
    }
    #expect(error?.step == .idToken && error?.problem == .issuerMismatch)
  }

  @Test("An invalid issuer pattern ends the sign-in")
  func noPattern() async {
    let error = await oauthFailure { () async throws(OAuthError) in
      try await signIn(claims: [:]) { $0.issuerPattern = FakeIssuer.issuer }
    }
    #expect(error?.problem == .invalidMetadata)
  }
}
