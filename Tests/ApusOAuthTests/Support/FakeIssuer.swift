import Apus
import ApusTesting
import Crypto
import Foundation
import Synchronization
import TestSupport

@testable import ApusOAuth

/// An in-memory authorization server: codes with PKCE, refresh tokens that rotate, device codes and signed ID tokens.
final class FakeIssuer: Sendable {
  struct State {
    /// The challenge, the redirect, the nonce and the scopes of each unused code.
    var codes: [String: [String: String]] = [:]
    var refreshTokens: Set<String> = []
    /// The issued access, refresh and ID tokens.
    var issued: [String] = []
    var count = 0
    /// The first replies of the token endpoint, each a status and JSON.
    var replies: [(status: Int, json: String)] = []
    /// The members that the token endpoint adds to its responses, or replaces.
    var changes: [String: String] = [:]
    /// The claims that are changed in ID tokens; `nil` removes a claim.
    var claims: [String: JSONValue?] = [:]
    var keys: [TestKey] = [TestKey(id: "k1")]
    var revoked: [String] = []
    /// The nonce that proofs must contain; `nil` if proofs need none.
    var proofNonce: String?
  }

  static let issuer = "https://id.example.com"
  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  let state = Mutex(State())
  let stub = StubTransport()
  let clock = ManualClock(.manual)

  init() {
    stub.on(
      where: { request, _ in request.head.authority == "id.example.com" },
      reply: { [weak self] exchange in self?.reply(to: exchange) ?? .status(500) })
  }

  /// Sets the replies of the app's API.
  func api(_ reply: @escaping @Sendable (StubExchange) -> StubReply) {
    stub.on(where: { request, _ in request.head.authority == "api.example.com" }, reply: { reply($0) })
  }

  /// The client of an app whose API is another server.
  var client: Client {
    var settings = ClientSettings()
    settings.runtime.clock = clock
    return Client(
      environment: Environment(baseURL: "https://api.example.com"), transport: stub, settings: settings)
  }

  var server: AuthorizationServer {
    var server = AuthorizationServer(issuer: Self.issuer, tokenEndpoint: Self.issuer + "/token")
    server.authorizationEndpoint = Self.issuer + "/authorize"
    server.deviceAuthorizationEndpoint = Self.issuer + "/device"
    server.revocationEndpoint = Self.issuer + "/revoke"
    server.keysURL = Self.issuer + "/keys"
    server.namesIssuer = true
    return server
  }

  func oauth(_ change: (inout AuthorizationServer) -> Void = { _ in }) -> OAuthClient {
    var server = server
    change(&server)
    return OAuthClient(id: "app", server: server, using: client, now: { Self.now })
  }

  /// Returns the requests to a path, as forms.
  func forms(_ path: String) -> [[String: String]] {
    stub.exchanges.filter { $0.target == path }.map { FormText.decoded($0.text) ?? [:] }
  }

  // MARK: The browser

  /// Returns the redirect of a page, like a browser whose user agrees.
  func authorized(_ page: String, changing: [String: String?] = [:]) -> String {
    var query = FormText.decoded(page.split(separator: "?", maxSplits: 1).last ?? "") ?? [:]
    if let uri = query["request_uri"] { query = state.withLock { $0.codes.removeValue(forKey: uri) } ?? [:] }
    let request = query
    let code = state.withLock { state -> String in
      state.count += 1
      let code = "code-\(state.count)"
      state.codes[code] = request
      return code
    }
    var values: [String: String] = ["code": code, "state": request["state"] ?? "", "iss": Self.issuer]
    for (name, value) in changing { values[name] = value }
    return FormText.url(
      request["redirect_uri"] ?? "", adding: values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  // MARK: The endpoints

  private func reply(to exchange: StubExchange) -> StubReply {
    switch exchange.target {
    case "/keys":
      return .json("{\"keys\":[\(state.withLock { $0.keys }.map { "\($0.json)" }.joined(separator: ","))]}")
    case "/token": return token(exchange)
    case "/revoke":
      state.withLock { $0.revoked.append(FormText.decoded(exchange.text)?["token"] ?? "") }
      return .status(200)
    case "/device":
      return .json(
        """
        {"device_code":"sentinel-of-the-device","user_code":"WDJB-MJHT",\
        "verification_uri":"https://id.example.com/enter",\
        "expires_in":1800,"interval":5}
        """)
    case "/par":
      return state.withLock { state in
        state.count += 1
        let uri = "urn:request:\(state.count)"
        state.codes[uri] = FormText.decoded(exchange.text)
        return .json("{\"request_uri\":\"\(uri)\",\"expires_in\":60}", status: 201)
      }
    default: return .status(404)
    }
  }

  private func token(_ exchange: StubExchange) -> StubReply {
    let form = FormText.decoded(exchange.text) ?? [:]
    return state.withLock { state in
      if let nonce = state.proofNonce {
        let proof = HTTPField.Name("DPoP").flatMap { exchange.fields[$0] }.flatMap { SignedToken($0) }
        guard proof?.claims["nonce"]?.string == nonce else {
          return .json(#"{"error":"use_dpop_nonce"}"#, status: 400, fields: Self.proofNonce(nonce))
        }
      }
      if !state.replies.isEmpty {
        let reply = state.replies.removeFirst()
        return .json(reply.json, status: reply.status)
      }
      switch form["grant_type"] {
      case "authorization_code":
        guard let request = form["code"].flatMap({ state.codes.removeValue(forKey: $0) }),
          let verifier = form["code_verifier"], request["redirect_uri"] == form["redirect_uri"],
          request["code_challenge_method"] == "S256",
          request["code_challenge"] == Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
        else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
        return Self.tokens(&state, nonce: request["nonce"], openID: request["scope"]?.contains("openid") ?? false)
      case "refresh_token":
        // Each refresh token is valid once.
        guard let token = form["refresh_token"], state.refreshTokens.remove(token) != nil else {
          return .json(#"{"error":"invalid_grant","error_description":"reused"}"#, status: 400)
        }
        return Self.tokens(&state, nonce: nil, openID: false)
      case "client_credentials":
        return .json(#"{"access_token":"sentinel-of-a-service","token_type":"Bearer","expires_in":60}"#)
      default: return Self.tokens(&state, nonce: nil, openID: form["scope"]?.contains("openid") ?? false)
      }
    }
  }

  private static func proofNonce(_ nonce: String) -> HTTPFields {
    HTTPField.Name("DPoP-Nonce").map { [$0: nonce] } ?? [:]
  }

  private static func tokens(_ state: inout State, nonce: String?, openID: Bool) -> StubReply {
    state.count += 1
    let (access, refresh) = ("access-\(state.count)", "refresh-\(state.count)")
    state.refreshTokens.insert(refresh)
    state.issued += [access, refresh]
    var members: [String: JSONValue] = [
      "access_token": .string(access), "refresh_token": .string(refresh), "token_type": "Bearer", "expires_in": 3600,
    ]
    if openID, let key = state.keys.last {
      let token = key.idToken(access: access, nonce: nonce, changing: state.claims)
      members["id_token"] = .string(token)
      state.issued.append(token)
    }
    for (name, value) in state.changes { members[name] = value.isEmpty ? nil : .string(value) }
    return .json("\(JSONValue.object(members))")
  }
}
