import Apus
import ApusTesting
import Testing

@testable import ApusOAuth

@Suite("Discovery of authorization servers")
struct DiscoveryTests {
  private let stub = StubTransport()
  private var client: Client {
    Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
  }

  private func document(_ changes: [String: JSONValue?] = [:]) -> String {
    var members: [String: JSONValue] = [
      "issuer": "https://id.example.com", "token_endpoint": "https://id.example.com/token",
      "authorization_endpoint": "https://id.example.com/authorize", "jwks_uri": "https://keys.example.com/keys",
      "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true,
    ]
    for (name, value) in changes { members[name] = value }
    return "\(JSONValue.object(members))"
  }

  @Test(
    "Discovery documents are requested at the URLs that the RFCs specify",
    arguments: [
      ("https://id.example.com", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
      ("https://id.example.com/", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
      (
        "https://id.example.com/t/1", "/.well-known/oauth-authorization-server/t/1",
        "/t/1/.well-known/openid-configuration"
      ),
      ("https://id.example.com/t/", "/.well-known/oauth-authorization-server/t", "/t/.well-known/openid-configuration"),
    ])
  func urls(issuer: String, oauth: String, openID: String) throws {
    let urls = try AuthorizationServer.metadataURLs(of: issuer)
    #expect(urls.oauth.text == "https://id.example.com" + oauth)
    #expect(urls.openID.text == "https://id.example.com" + openID)
  }

  @Test("The document of RFC 8414 is read")
  func oauth() async throws {
    stub.on(.get, "/.well-known/oauth-authorization-server", reply: .json(document()))
    let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
    #expect(server.tokenEndpoint == "https://id.example.com/token")
    #expect(server.keysURL == "https://keys.example.com/keys")
    #expect(server.namesIssuer && server.codeChallengeMethods == ["S256"])
    #expect(stub.exchanges.allSatisfy { $0.fields[.authorization] == nil })
  }

  @Test("If a server responds to any path with a page, the document of OpenID is requested")
  func page() async throws {
    stub.on(.get, "/.well-known/oauth-authorization-server", reply: .text("<html></html>"))
    stub.on(.get, "/.well-known/openid-configuration", reply: .json(document()))
    let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
    #expect(server.tokenEndpoint == "https://id.example.com/token")
  }

  @Test(
    "If a server has no document of RFC 8414, the document of OpenID is requested", arguments: [404, 400, 403, 302])
  func openID(status: Int) async throws {
    stub.on(.get, "/.well-known/oauth-authorization-server", reply: .status(status))
    stub.on(.get, "/.well-known/openid-configuration", reply: .json(document()))
    let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
    #expect(server.authorizationEndpoint == "https://id.example.com/authorize")
  }

  @Test(
    "An untrustworthy document is refused",
    arguments: [
      (["issuer": "https://id.example.com/"], .issuerMismatch), (["issuer": "https://evil.example"], .issuerMismatch),
      (["issuer": nil], .invalidMetadata), (["token_endpoint": nil], .invalidMetadata),
      (["issuer": ""], .invalidMetadata), (["token_endpoint": ""], .invalidMetadata),
      (["issuer": "https://id.example.com/{tenantid}"], .issuerMismatch),
      (["token_endpoint": "http://id.example.com/token"], .insecureURL),
      (["token_endpoint": "http://localhost.evil.example/token"], .insecureURL),
      (["token_endpoint": "http://localhost:8080/token"], .insecureURL),
      (["jwks_uri": "http://127.0.0.1/keys"], .insecureURL), (["revocation_endpoint": "http://[::1]/r"], .insecureURL),
      (["authorization_endpoint": "javascript:alert(1)"], .invalidMetadata),
      (["jwks_uri": "https://a@b.example/keys"], .invalidMetadata),
      (["revocation_endpoint": "https://id.example.com/r#x"], .invalidMetadata),
      (["device_authorization_endpoint": "/device"], .invalidMetadata),
    ] as [([String: JSONValue?], OAuthError.Problem)])
  func refused(changes: [String: JSONValue?], code: OAuthError.Problem) async {
    stub.onAny(reply: .json(document(changes)))
    let error = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover("https://id.example.com", using: client)
    }
    #expect(error?.problem == code && error?.step == .discovery)
    #expect(error.map { "\($0)".contains("evil") } == false)
  }

  @Test("An endpoint that is empty, null or not a string is treated as missing")
  func empty() async throws {
    let names = [
      "authorization_endpoint", "pushed_authorization_request_endpoint", "device_authorization_endpoint",
      "revocation_endpoint", "jwks_uri",
    ]
    for value in ["", " ", .null, 7] as [JSONValue] {
      let members = Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue?.some(value)) })
      stub.onAny(reply: .json(document(members)))
      let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
      #expect(server.authorizationEndpoint == nil && server.pushedAuthorizationEndpoint == nil)
      #expect(server.deviceAuthorizationEndpoint == nil && server.revocationEndpoint == nil && server.keysURL == nil)
    }
  }

  @Test("A flag of the document may be a string")
  func flags() async throws {
    for (value, expected) in [("true", true), (true, true), ("false", false), (1, false)] as [(JSONValue, Bool)] {
      stub.onAny(
        reply: .json(
          document([
            "authorization_response_iss_parameter_supported": value, "require_pushed_authorization_requests": value,
          ])))
      let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
      #expect(server.namesIssuer == expected && server.requiresPushedAuthorization == expected)
    }
  }

  private let tenants = "https://id.example.com/{tenantid}/v2.0"

  @Test("A document whose issuer is the app's issuer pattern is accepted")
  func pattern() async throws {
    stub.onAny(reply: .json(document(["issuer": .string(tenants)])))
    let server = try await AuthorizationServer.discover(
      "https://id.example.com/common/v2.0", issuerPattern: tenants, using: client)
    #expect(server.issuer == "https://id.example.com/common/v2.0" && server.issuerPattern == tenants)
    let other = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover(
        "https://id.example.com/common/v2.0", issuerPattern: "https://id.example.com/{tenantid}", using: client)
    }
    #expect(other?.problem == .issuerMismatch)
    let unnamed = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover("https://id.example.com/common/v2.0", using: client)
    }
    #expect(unnamed?.problem == .issuerMismatch && unnamed?.detail.contains("issuerPattern") == true)
  }

  @Test(
    "A pattern has one placeholder, which is a path segment of a URL",
    arguments: [
      "https://id.example.com", "https://{tenantid}/", "https://{tenantid}.example.com/", "{tenantid}",
      "https://id.example.com/x{tenantid}", "https://id.example.com/{tenantid}x", "https://id.example.com?{tenantid}",
      "https://id.example.com/{tenantid}/{tenantid}", "https://id.example.com/?a=/{tenantid}",
      "https://id.example.com/{tenantid}/#a", "https://id.example.com/{tenantid}?a", "http://id.example.com/{tenantid}",
    ])
  func badPattern(text: String) async {
    stub.onAny(reply: .json(document()))
    let error = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover("https://id.example.com", issuerPattern: text, using: client)
    }
    #expect(error?.step == .discovery && (error?.problem == .invalidMetadata || error?.problem == .insecureURL))
  }

  @Test(
    "The placeholder matches exactly one path segment",
    arguments: [
      ("https://id.example.com/a/v2.0", "a"), ("https://id.example.com/a-1/v2.0", "a-1"),
      ("https://id.example.com//v2.0", nil), ("https://id.example.com/a/b/v2.0", nil),
      ("https://id.example.com/v2.0", nil), ("https://evil.example/a/v2.0", nil),
      ("https://id.example.com/a/v2.0/", nil), ("https://id.example.com/a?x/v2.0", nil),
      ("https://id.example.com/a#x/v2.0", nil), ("https://id.example.com/{tenantid}/v2.0", nil),
      ("HTTPS://id.example.com/a/v2.0", nil), ("", nil),
    ] as [(String, String?)])
  func segments(issuer: String, tenant: String?) throws {
    #expect(try IssuerPattern(tenants, for: .discovery).tenant(in: issuer) == tenant)
  }

  @Test("An issuer that is an http URL of this machine may state http endpoints of this machine")
  func loopback() async throws {
    let urls: [String: JSONValue?] = [
      "issuer": "http://127.0.0.1:8080", "token_endpoint": "http://localhost:8080/token",
    ]
    stub.onAny(reply: .json(document(urls)))
    let server = try await AuthorizationServer.discover("http://127.0.0.1:8080", using: client)
    #expect(server.tokenEndpoint == "http://localhost:8080/token")
  }

  @Test(
    "An issuer must be https, or http on this machine",
    arguments: [
      ("http://id.example.com", false), ("http://127.0.0.1:8080", true), ("http://[::1]:8080", true),
      ("http://localhost", true), ("http://127.3.2.1", true), ("http://a.localhost", false),
      ("ftp://id.example.com", false), ("https://id.example.com?x", false), ("id", false),
    ])
  func issuers(issuer: String, isAllowed: Bool) {
    #expect(((try? AuthorizationServer.metadataURLs(of: issuer)) != nil) == isAllowed)
  }

  @Test(
    "A document that is too long, or not a JSON object, is a malformed response",
    arguments: [
      StubReply.text("hello"), .json("[]"), .json(String(repeating: "[", count: 100_000)),
    ])
  func malformed(reply: StubReply) async {
    stub.onAny(reply: reply)
    let error = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover("https://id.example.com", using: client)
    }
    #expect(error?.problem == .malformedResponse)
  }

  @Test("A response beyond the limit is not read")
  func tooLong() async {
    stub.onAny(reply: .json("{\"issuer\":\"" + String(repeating: "x", count: 600_000) + "\"}"))
    let error = await oauthFailure { () async throws(OAuthError) in
      try await AuthorizationServer.discover("https://id.example.com", using: client)
    }
    #expect((error?.underlying as? CallError)?.code == .contentTooLarge)
  }
}
