import Apus
import ApusTesting
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Responses of the token endpoint")
struct TokenResponseTests {
  private let issuer = FakeIssuer()

  /// Returns the tokens of a response.
  private func tokens(
    _ json: String, bindsTokens: Bool = false, acceptsBearer: Bool = false
  ) async -> Result<Tokens, OAuthError> {
    issuer.state.withLock { $0.replies = [(200, json)] }
    var oauth = issuer.oauth()
    (oauth.bindsTokens, oauth.acceptsBearer) = (bindsTokens, acceptsBearer)
    let client = oauth
    do throws(OAuthError) {
      return .success(try await client.clientCredentials().tokens)
    } catch {
      return .failure(error)
    }
  }

  @Test(
    "A token type that is missing, empty or “bearer” in any case is treated as Bearer",
    arguments: [
      "", #","token_type":"""#, #","token_type":null"#, #","token_type":"bearer""#, #","token_type":"BEARER""#,
      #","token_type":" Bearer ""#,
    ])
  func bearer(type: String) async throws {
    let json = "{\"access_token\":\"a\"\(type)}"
    #expect(try await tokens(json).get().proofKey == nil)
    guard case .failure(let error) = await tokens(json, bindsTokens: true) else {
      Issue.record("a token without the key is accepted")
      return
    }
    #expect(error.problem == .malformedResponse)
    #expect(try await tokens(json, bindsTokens: true, acceptsBearer: true).get().proofKey == nil)
  }

  @Test(
    "An unknown token type is refused, and the error contains the type if it is a short name",
    arguments: [
      (#""mac""#, "“mac”"), (#""DPoP""#, "“DPoP”"), (#""urn:x:token-type:jwt""#, "“urn:x:token-type:jwt”"),
      ("7", "“7”"), (#""a b""#, nil), (#""a\u001b[2J""#, nil), ("[]", nil), (#""sentinel-access""#, nil),
    ] as [(String, String?)])
  func otherType(type: String, shown: String?) async {
    for accepts in [false, true] {
      let result = await tokens(
        "{\"access_token\":\"sentinel-access\",\"token_type\":\(type)}", acceptsBearer: accepts)
      guard case .failure(let error) = result else {
        Issue.record("the type is accepted")
        return
      }
      #expect(error.problem == .malformedResponse && !error.description.contains("sentinel"))
      #expect(error.description.contains(shown ?? "that is not supported"), "\(error)")
      #expect(shown != nil || !error.description.contains("“"))
    }
  }

  @Test("A bound token of the type DPoP, in any case, is accepted only with proofs")
  func bound() async throws {
    let json = #"{"access_token":"a","token_type":"dpop"}"#
    #expect(try await tokens(json, bindsTokens: true).get().proofKey != nil)
    #expect(try await tokens(json, bindsTokens: true, acceptsBearer: true).get().proofKey != nil)
  }

  @Test(
    "Empty members are treated as missing",
    arguments: [
      #""refresh_token":"","id_token":"","scope":"""#, #""refresh_token":" ","id_token":" ","scope":" ""#,
      #""refresh_token":null,"id_token":null,"scope":null,"expires_in":null"#,
      #""refresh_token":7,"id_token":{},"scope":[],"expires_in":"""#, #""error":"","error_description":"""#,
      #""error":null"#, #""expires_in":"soon""#,
    ])
  func empty(members: String) async throws {
    let tokens = try await tokens("{\"access_token\":\"a\",\"token_type\":\"Bearer\",\(members)}").get()
    #expect(tokens.refresh == nil && tokens.idToken == nil && tokens.lifetime == nil)
    #expect(tokens.scopes == [])
  }

  @Test(
    "Scopes may be separated by spaces or commas, or be a list",
    arguments: [
      (#""a b""#, ["a", "b"]), (#""a,b""#, ["a", "b"]), (#""a, b""#, ["a", "b"]), (#""a,b c""#, ["a,b", "c"]),
      (#"["a","b"]"#, ["a", "b"]), (#"["a","",7]"#, ["a"]), (#"",a,,b,""#, ["a", "b"]),
      (#""a\u001b[2J b""#, ["b"]),
    ] as [(String, [String])])
  func scopes(text: String, expected: [String]) async throws {
    let tokens = try await tokens("{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"scope\":\(text)}").get()
    #expect(tokens.scopes == expected)
  }

  @Test(
    "A response and an error may be forms",
    arguments: ["application/x-www-form-urlencoded", "text/plain; charset=utf-8"])
  func form(type: String) async throws {
    let answer = "access_token=a%2Bb&scope=x%2Cy&token_type=bearer&expires_in=60&refresh_token=\n"
    issuer.stub.on(.post, "/token", reply: .status(200, fields: [.contentType: type], content: answer))
    let grant = try await issuer.oauth().clientCredentials()
    #expect(grant.tokens.access == "a+b" && grant.scopes == ["x", "y"] && grant.tokens.lifetime == .seconds(60))
    #expect(grant.tokens.refresh == nil)
    for status in [200, 400] {
      let content = "error=bad_verification_code&error_description=The+code+is+wrong."
      issuer.stub.on(.post, "/token", reply: .status(status, fields: [.contentType: type], content: content))
      let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
      #expect(error?.serverCode == "bad_verification_code" && error?.serverMessage == "The code is wrong.")
    }
  }

  @Test(
    "Content that is not a form is malformed",
    arguments: [
      ("text/html", "access_token=a"), ("text/plain", "busy"), ("text/plain", "access_token=a&access_token=b"),
    ])
  func noForm(type: String, content: String) async {
    issuer.stub.on(.post, "/token", reply: .status(200, fields: [.contentType: type], content: content))
    let error = await oauthFailure { () async throws(OAuthError) in try await issuer.oauth().clientCredentials() }
    #expect(error?.problem == .malformedResponse)
  }

  @Test(
    "An unregistered error code is part of the error, unless it is a sentence or repeats a sent secret",
    arguments: [
      ("bad_verification_code", "“bad_verification_code”"), ("E0000011", "“E0000011”"), ("The code is wrong", nil),
      ("a\u{1B}[2J", nil), ("sentinel-of-a-client", nil), ("bad-sentinel-of-a-client", nil), ("sentinel-of-a", nil),
    ] as [(String, String?)])
  func unregistered(code: String, shown: String?) async {
    var oauth = issuer.oauth()
    for authentication in [ClientAuthentication.post("sentinel-of-a-client"), .basic("sentinel-of-a-client")] {
      issuer.state.withLock { $0.replies = [(400, "\(JSONValue.object(["error": .string(code)]))")] }
      oauth.authentication = authentication
      let client = oauth
      let error = await oauthFailure { () async throws(OAuthError) in try await client.clientCredentials() }
      #expect(error?.problem == .unregistered)
      #expect(error?.description.contains(shown ?? "that is not registered") == true, "\(error?.description ?? "")")
      #expect(shown != nil || error?.description.contains("“") == false)
    }
  }
}
