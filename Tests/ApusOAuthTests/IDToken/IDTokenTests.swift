import Apus
import ApusTesting
import Crypto
import CryptoExtras
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("ID tokens")
struct IDTokenTests {
  private func rules(algorithms: [String]? = nil, nonce: String? = "nonce") -> IDTokenRules {
    IDTokenRules(
      issuer: FakeIssuer.issuer, client: "app", algorithms: algorithms, nonce: nonce, accessToken: "access",
      leeway: .seconds(60))
  }

  /// Returns the failure of a check; `nil` if the token is verified, `.keys` if the key is unknown.
  private func failure(
    _ token: String, _ keys: [JSONValue], _ rules: IDTokenRules? = nil
  ) -> OAuthError? {
    do throws(OAuthError) {
      let outcome = try (rules ?? self.rules()).check(
        token, with: keys.compactMap { JSONWebKey($0) }, at: FakeIssuer.now)
      if case .unknownKey = outcome { return OAuthError(.keys, .invalidIDToken, "unknown key") }
      return nil
    } catch {
      return error
    }
  }

  @Test("A token of each algorithm is verified; with another key or after a change it is refused")
  func algorithms() throws {
    #expect(Set(try TestKey.all().map(\.0)) == Set(SignatureAlgorithm.allCases))
    for (algorithm, key) in try TestKey.all() {
      let token = key.idToken(access: "access", nonce: "nonce")
      #expect(failure(token, [key.json]) == nil, "\(algorithm)")
      #expect(failure(token, [key.json], rules(algorithms: [algorithm.rawValue])) == nil)
      #expect(failure(token, [key.json], rules(algorithms: ["none"])) != nil)
      var parts = token.split(separator: ".").map(String.init)
      parts[1] = Base64URL.encode(Data("{\"sub\":\"admin\"}".utf8))
      #expect(failure(parts.joined(separator: "."), [key.json])?.detail == "its signature is wrong")
      parts = token.split(separator: ".").map(String.init)
      parts[2] = Base64URL.encode(Data(count: 64))
      #expect(failure(parts.joined(separator: "."), [key.json])?.detail == "its signature is wrong")
    }
    let (one, other) = (TestKey(id: "k"), TestKey(id: "k"))
    #expect(failure(one.idToken(access: "access", nonce: "nonce"), [other.json])?.detail == "its signature is wrong")
    #expect(failure(one.idToken(access: "access", nonce: "nonce"), [other.json, one.json]) == nil)
  }

  @Test("A signature is valid only for its algorithm, even if another algorithm has the same key")
  func otherAlgorithm() throws {
    let keys = try TestKey.all()
    for (algorithm, key) in keys {
      for other in SignatureAlgorithm.allCases where other != algorithm {
        let token = try key.token(header: ["alg": .string(other.rawValue), "kid": "k"], claims: TestKey.claims())
        let error = failure(token, [key.json])
        let isShared = keys.contains { $0.0 == other && $0.1.json == key.json }
        #expect(isShared ? error?.detail == "its signature is wrong" : error?.step == .keys, "\(algorithm) \(other)")
      }
    }
  }

  @Test(
    "The hash of an access token is half of the algorithm's hash",
    arguments: [
      // The access token of OpenID Connect Core, appendix A.3, with its published hash. The other hashes were computed
      // with Python's hashlib.
      (.rs256, "77QmUPtjPfzWtF2AnpK9RQ"), (.es256, "77QmUPtjPfzWtF2AnpK9RQ"), (.ps256, "77QmUPtjPfzWtF2AnpK9RQ"),
      (.rs384, "jtAeDp945y1dDqU3nkIVGNZP1HjH_MFs"), (.es384, "jtAeDp945y1dDqU3nkIVGNZP1HjH_MFs"),
      (.ps384, "jtAeDp945y1dDqU3nkIVGNZP1HjH_MFs"), (.rs512, "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"),
      (.es512, "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"),
      (.ps512, "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"), (.edDSA, "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"),
    ] as [(SignatureAlgorithm, String)])
  func hash(algorithm: SignatureAlgorithm, expected: String) {
    #expect(IDTokenRules.hash(of: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", algorithm) == expected)
  }

  @Test("A token without a signature, or signed with a shared secret, is refused, whatever the key")
  func confusion() throws {
    let rsa = TestKey(.rsa(try TestKey.rsaKey.get(), .rs256), id: "k")
    let claims = Base64URL.encode(JSONValue.object(TestKey.claims()).utf8())
    for name in ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "ES256K", "RS1", "rs256"] {
      let header = Base64URL.encode(Data("{\"alg\":\"\(name)\",\"kid\":\"k\"}".utf8))
      let message = "\(header).\(claims)"
      // Uses the public key as a shared secret.
      let secret = SymmetricKey(data: Data(try rsa.publicPEM().utf8))
      let code = Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: secret))
      for signature in ["", code] {
        #expect(failure("\(message).\(signature)", [rsa.json])?.detail == "its algorithm is not allowed")
      }
    }
    // A key for one algorithm does not verify another.
    let ec = TestKey(id: "k")
    let token = try ec.token(header: ["alg": "RS256", "kid": "k"], claims: TestKey.claims())
    #expect(failure(token, [ec.json])?.step == .keys)
    var restricted = rsa.json.object ?? [:]
    restricted["alg"] = "PS256"
    #expect(failure(rsa.idToken(access: "access", nonce: "nonce"), [.object(restricted)])?.step == .keys)
    restricted["alg"] = nil
    restricted["use"] = "enc"
    #expect(failure(rsa.idToken(access: "access", nonce: "nonce"), [.object(restricted)])?.step == .keys)
  }

  @Test(
    "A token with a wrong or missing claim is refused",
    arguments: [
      (["iss": "https://id.example.com/"], .issuerMismatch), (["iss": nil], .issuerMismatch),
      (["sub": nil], .invalidIDToken),
      (["sub": ""], .invalidIDToken), (["aud": "other"], .invalidIDToken), (["aud": nil], .invalidIDToken),
      (["aud": ["app", "other"]], .invalidIDToken), (["azp": "other"], .invalidIDToken),
      (["aud": ["app", "other"], "azp": "other"], .invalidIDToken), (["exp": 1_799_999_940], .invalidIDToken),
      (["exp": nil], .invalidIDToken), (["exp": "soon"], .invalidIDToken), (["exp": "nan"], .invalidIDToken),
      (["exp": "1799999940"], .invalidIDToken), (["exp": 1e300], .invalidIDToken),
      (["iat": 1_800_000_061], .invalidIDToken), (["iat": nil], .invalidIDToken),
      (["nbf": 1_800_000_061], .invalidIDToken),
      (["nonce": "Nonce"], .nonceMismatch), (["nonce": nil], .nonceMismatch), (["at_hash": "x"], .invalidIDToken),
      (["at_hash": 7], .invalidIDToken),
    ] as [([String: JSONValue?], OAuthError.Problem)])
  func claims(changes: [String: JSONValue?], code: OAuthError.Problem) {
    let key = TestKey(id: "k")
    #expect(failure(key.idToken(access: "access", nonce: "nonce", changing: changes), [key.json])?.problem == code)
  }

  @Test(
    "Clocks may differ by the tolerance, and an audience list may contain only the client",
    arguments: [
      ["exp": 1_799_999_941], ["iat": 1_800_000_060], ["aud": ["app"]], ["aud": ["app", "other"], "azp": "app"],
      ["nbf": 1_800_000_060], ["at_hash": nil], ["exp": "1800000300"], ["iat": "1800000000"],
      ["azp": .null], ["azp": ""], ["at_hash": .null], ["nbf": .null],
    ] as [[String: JSONValue?]])
  func tolerance(changes: [String: JSONValue?]) {
    let key = TestKey(id: "k")
    #expect(failure(key.idToken(access: "access", nonce: "nonce", changing: changes), [key.json]) == nil)
  }

  @Test(
    "A malformed token is refused",
    arguments: [
      "", ".", "..", "a.b.c", "a.b.c.d", "e30.e30.", "e30.e30", "e30.W10.e30", "e30=.e30.e30",
      String(repeating: "a", count: 100_000),
    ])
  func malformed(text: String) {
    #expect(failure(text, [TestKey(id: "k").json])?.problem == .invalidIDToken)
  }

  @Test("An unknown critical extension is refused")
  func critical() throws {
    let key = TestKey(id: "k")
    for name in ["crit", "b64"] {
      let token = try key.token(header: ["alg": "ES256", "kid": "k", name: ["exp"]], claims: TestKey.claims())
      #expect(failure(token, [key.json])?.detail == "it is malformed")
    }
  }

  @Test("A token without a key ID is verified only if a single key fits")
  func nameless() throws {
    let (one, other) = (TestKey(id: nil), TestKey(id: "other"))
    let token = one.idToken(access: "access", nonce: "nonce")
    #expect(failure(token, [one.json]) == nil)
    #expect(failure(token, [one.json, other.json])?.step == .keys)
    let ed = TestKey(.ed25519(Curve25519.Signing.PrivateKey()), id: nil)
    #expect(failure(token, [ed.json, one.json]) == nil)
  }

  @Test("Unusable keys are skipped, and the number of keys is limited")
  func keys() throws {
    let good = TestKey(id: "k").json
    // A point of one curve with the name of another curve.
    var mislabelled = good.object ?? [:]
    mislabelled["crv"] = "P-384"
    let bad: [JSONValue] = [
      [:], "x", ["kty": "oct", "k": "c2VjcmV0"], ["kty": "RSA", "n": "AQAB", "e": "AQAB"],
      ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"], ["kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"],
      ["kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"], ["kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"],
      .object(mislabelled), ["kty": "OKP", "crv": "Ed25519", "x": "AA"],
      ["kty": "RSA", "n": .string(String(repeating: "A", count: 20_000)), "e": "AQAB"],
    ]
    #expect(JSONWebKey.all(in: ["keys": .array(bad + [good])])?.map(\.id) == ["k"])
    #expect(JSONWebKey.all(in: ["keys": .array(Array(repeating: good, count: 200))])?.count == 100)
    #expect(JSONWebKey.all(in: ["keys": "x"]) == nil)
  }
}

@Suite("The server's keys")
struct KeySetsTests {
  private let issuer = FakeIssuer()

  private func signIn(_ oauth: OAuthClient) async throws(OAuthError) -> OAuthGrant {
    try await oauth.signIn(
      scopes: ["openid"], redirect: .uri("app:/done"), browser: ScriptedBrowser { page in issuer.authorized(page) })
  }

  private var fetches: Int { issuer.stub.exchanges.count { $0.target == "/keys" } }

  @Test("Keys are cached, and fetched again for an unknown key ID at most once a minute")
  func unknown() async throws {
    let oauth = issuer.oauth()
    _ = try await signIn(oauth)
    _ = try await signIn(oauth)
    #expect(fetches == 1)
    issuer.state.withLock { $0.keys.append(TestKey(id: "k2")) }
    #expect(await oauthFailure { () async throws(OAuthError) in try await signIn(oauth) }?.problem == .invalidIDToken)
    #expect(fetches == 1)
    issuer.clock.advance(by: .seconds(60))
    _ = try await signIn(oauth)
    #expect(fetches == 2)
    // A server whose keys do not contain the key ID receives one request.
    issuer.clock.advance(by: .seconds(60))
    issuer.stub.on(.get, "/keys", reply: .json(#"{"keys":[]}"#))
    issuer.state.withLock { $0.keys.append(TestKey(id: "k3")) }
    #expect(await oauthFailure { () async throws(OAuthError) in try await signIn(oauth) }?.step == .idToken)
    #expect(fetches == 3)
  }

  @Test("Cached keys expire after a day")
  func old() async throws {
    let oauth = issuer.oauth()
    _ = try await signIn(oauth)
    issuer.clock.advance(by: .seconds(24 * 60 * 60))
    _ = try await signIn(oauth)
    #expect(fetches == 2)
  }

  @Test(
    "If keys cannot be fetched or read, the sign-in fails in the step keys",
    arguments: [
      StubReply.status(500), .json("{}"), .json("[]"),
    ])
  func failing(reply: StubReply) async {
    issuer.stub.on(.get, "/keys", reply: reply)
    let oauth = issuer.oauth()
    #expect(await oauthFailure { () async throws(OAuthError) in try await signIn(oauth) }?.step == .keys)
  }
}

extension TestKey {
  fileprivate func publicPEM() throws -> String {
    guard case .rsa(let key, _) = kind else { return "" }
    return key.publicKey.pemRepresentation
  }
}
