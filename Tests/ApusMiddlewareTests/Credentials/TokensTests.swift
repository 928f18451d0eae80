import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Tokens")
struct TokensTests {
  @Test(
    "Tokens are decoded from the response of a token endpoint, with the lifetime as a number or a string",
    arguments: [
      (#"{"access_token":"a","refresh_token":"r","expires_in":3600}"#, "r", Duration?.some(.seconds(3600))),
      (#"{"access_token":"a","refresh_token":"r","expires_in":"60"}"#, "r", .seconds(60)),
      (#"{"access_token":"a","token_type":"Bearer","expires_in":1.5}"#, nil, .milliseconds(1500)),
      (#"{"access_token":"a","expires_in":-1}"#, nil, nil), (#"{"access_token":"a","expires_in":1e300}"#, nil, nil),
      (#"{"access_token":"a","expires_in":null,"refresh_token":null}"#, nil, nil),
      (#"{"access_token":"a","refresh_token":""}"#, nil, nil),
    ] as [(String, Secret?, Duration?)])
  func decoding(json: String, refresh: Secret?, lifetime: Duration?) throws {
    for isSnakeCase in [false, true] {
      let decoder = JSONDecoder()
      if isSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
      let tokens = try decoder.decode(Tokens.self, from: Data(json.utf8))
      #expect(tokens == Tokens(access: "a", refresh: refresh, lifetime: lifetime))
    }
  }

  @Test(
    "An empty ID token and an empty scope are ignored; scopes may be separated by commas or an array",
    arguments: [
      (#""id_token":"","scope":"""#, nil, nil), (#""id_token":null,"scope":null"#, nil, nil),
      (#""id_token":"i","scope":"a b""#, "i", ["a", "b"]), (#""scope":"a,b""#, nil, ["a", "b"]),
      (#""scope":["a","b"]"#, nil, ["a", "b"]), (#""scope":7"#, nil, nil), (#""scope":[]"#, nil, nil),
    ] as [(String, Secret?, [String]?)])
  func scopes(members: String, idToken: Secret?, scopes: [String]?) throws {
    let tokens = try JSONDecoder().decode(Tokens.self, from: Data("{\"access_token\":\"a\",\(members)}".utf8))
    #expect(tokens.idToken == idToken && tokens.scopes == scopes)
  }

  @Test("A response without an access token is an error")
  func missing() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Tokens.self, from: Data(#"{"refresh_token":"r"}"#.utf8))
    }
  }

  @Test("Tokens print as a mask")
  func masked() {
    let tokens = Tokens(access: Secret(sentinel), refresh: Secret(sentinel))
    #expect(!texts(of: tokens).contains(sentinel))
    #expect("\(tokens)" == "tokens ██")
  }

  @Test("Tokens in memory age by the clock of the store")
  func ageing() {
    let clock = ManualClock(.manual)
    let credentials = MemoryCredentialsStore(.tokens(Tokens(access: "a", lifetime: .seconds(10))), clock: clock)
    #expect(credentials.current().remaining == .seconds(10))
    clock.advance(by: .seconds(12))
    #expect(credentials.current().remaining == .seconds(-2))
    credentials.set(token: "plain")
    #expect(credentials.current().remaining == nil)
  }

  @Test("A store in memory returns the name of the account until credentials are set without a name")
  func account() {
    let store = MemoryCredentialsStore()
    #expect(store.current().account == nil)
    store.set(.token("1"), account: "ada")
    #expect(store.current().account == "ada")
    #expect(store.refresh(store.current().generation, to: .token("2")))
    #expect(store.current().account == "ada")
    store.set(.token("3"))
    #expect(store.current().account == nil)
  }
}
