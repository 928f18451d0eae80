import ApusTestServer
import Crypto
import Foundation
import Synchronization

/// An authorization server and its API: codes with PKCE, devices, rotated refresh tokens and signed ID tokens.
final class AuthorizationServer: Sendable {
  /// An authorization that the user has granted.
  private struct Grant {
    var challenge: String?
    var nonce: String?
  }

  private struct State {
    var codes: [String: Grant] = [:]
    var isDeviceAllowed = false
    /// The number of the current tokens; 0 if there are none.
    var session = 0
    var hasEnded = false
    var revoked: [String] = []
  }

  /// The client's secret; `nil` for a public client.
  let clientSecret: String?
  /// Whether the user declines.
  let declines: Bool
  let revokes: Bool
  private let key = P256.Signing.PrivateKey()
  private let state = Mutex(State())

  init(clientSecret: String? = nil, declines: Bool = false, revokes: Bool = true) {
    (self.clientSecret, self.declines, self.revokes) = (clientSecret, declines, revokes)
  }

  /// The tokens that were revoked.
  var revoked: [String] { state.withLock { $0.revoked } }

  /// Ends the access token, so that the API rejects it.
  func endAccess() { state.withLock { $0.hasEnded = true } }

  /// Ends the access token and the refresh token.
  func endSession() { state.withLock { ($0.session, $0.hasEnded) = ($0.session + 1, true) } }

  /// Allows the device, as the user does on the page for the code.
  func allowDevice() { state.withLock { $0.isDeviceAllowed = true } }

  func reply(to request: RecordedRequest) -> Reply {
    let issuer = "http://\(request.field("Host") ?? "")"
    let (path, query) = Self.parts(of: request.target)
    let form = Self.values(request.text)
    switch path {
    case "/.well-known/oauth-authorization-server": return .json(metadata(issuer))
    case "/keys": return .json(keys)
    case "/authorize": return redirect(query, issuer)
    case "/device": return .json(device(issuer))
    case "/token": return hasIdentity(request, form) ? token(form, issuer) : error("invalid_client", status: 401)
    case "/revoke":
      state.withLock { $0.revoked.append(form["token"] ?? "") }
      return .status(200)
    default: return api(request.field("Authorization"))
    }
  }

  // MARK: Endpoints

  private func metadata(_ issuer: String) -> String {
    """
    {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/authorize","token_endpoint":"\(issuer)/token",\
    "device_authorization_endpoint":"\(issuer)/device","jwks_uri":"\(issuer)/keys",\
    \(revokes ? "\"revocation_endpoint\":\"\(issuer)/revoke\"," : "")\
    "code_challenge_methods_supported":["S256"],"id_token_signing_alg_values_supported":["ES256"]}
    """
  }

  private func redirect(_ query: [String: String], _ issuer: String) -> Reply {
    guard let target = query["redirect_uri"], let sent = query["state"] else { return .status(400) }
    if declines {
      return .status(302, fields: ["Location": "\(target)?error=access_denied&state=\(sent)"])
    }
    let code = "code-\(UUID())"
    state.withLock { $0.codes[code] = Grant(challenge: query["code_challenge"], nonce: query["nonce"]) }
    return .status(302, fields: ["Location": "\(target)?code=\(code)&state=\(sent)"])
  }

  private func device(_ issuer: String) -> String {
    """
    {"device_code":"device-1","user_code":"ABCD-EFGH","verification_uri":"\(issuer)/enter","interval":1,\
    "expires_in":600}
    """
  }

  private func token(_ form: [String: String], _ issuer: String) -> Reply {
    state.withLock { state in
      switch form["grant_type"] {
      case "authorization_code":
        guard let grant = state.codes.removeValue(forKey: form["code"] ?? ""), let verifier = form["code_verifier"],
          Self.base64URL(Data(SHA256.hash(data: Data(verifier.utf8)))) == grant.challenge
        else { return error("invalid_grant") }
        return issue(&state, form, issuer, nonce: grant.nonce)
      case "urn:ietf:params:oauth:grant-type:device_code":
        guard state.isDeviceAllowed else { return error("authorization_pending") }
        return issue(&state, form, issuer, nonce: nil)
      case "refresh_token":
        guard form["refresh_token"] == "refresh-\(state.session)" else { return error("invalid_grant") }
        return issue(&state, form, issuer, nonce: nil)
      default: return error("unsupported_grant_type")
      }
    }
  }

  private func issue(_ state: inout State, _ form: [String: String], _ issuer: String, nonce: String?) -> Reply {
    state.session += 1
    state.hasEnded = false
    let number = state.session
    let identity = form["grant_type"] == "refresh_token" ? "" : ",\"id_token\":\"\(idToken(issuer, nonce))\""
    return .json(
      """
      {"access_token":"access-\(number)","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-\(number)",\
      "scope":"openid films:read"\(identity)}
      """)
  }

  private func api(_ authorization: String?) -> Reply {
    let isValid = state.withLock { !$0.hasEnded && authorization == "Bearer access-\($0.session)" }
    return isValid ? .text("hi") : .text("who?", status: 401, fields: ["WWW-Authenticate": "Bearer"])
  }

  private func error(_ code: String, status: Int = 400) -> Reply { .json("{\"error\":\"\(code)\"}", status: status) }

  private func hasIdentity(_ request: RecordedRequest, _ form: [String: String]) -> Bool {
    guard let clientSecret else { return form["client_id"] == "tool" }
    return request.field("Authorization") == "Basic \(Data("tool:\(clientSecret)".utf8).base64EncodedString())"
  }

  // MARK: Tokens

  private var keys: String {
    let point = key.publicKey.x963Representation.dropFirst()
    return """
      {"keys":[{"kty":"EC","crv":"P-256","kid":"1","alg":"ES256","use":"sig",\
      "x":"\(Self.base64URL(point.prefix(32)))","y":"\(Self.base64URL(point.suffix(32)))"}]}
      """
  }

  private func idToken(_ issuer: String, _ nonce: String?) -> String {
    let now = Int(Date().timeIntervalSince1970)
    let claims = """
      {"iss":"\(issuer)","sub":"user-1","aud":"tool","iat":\(now),"exp":\(now + 600),\
      "email":"ada@example.com"\(nonce.map { ",\"nonce\":\"\($0)\"" } ?? "")}
      """
    let text = [#"{"alg":"ES256","kid":"1"}"#, claims].map { Self.base64URL(Data($0.utf8)) }.joined(separator: ".")
    guard let signature = try? key.signature(for: Data(text.utf8)) else { return "" }
    return "\(text).\(Self.base64URL(signature.rawRepresentation))"
  }

  // MARK: Texts

  private static func base64URL(_ bytes: some DataProtocol) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static func parts(of target: String) -> (path: String, query: [String: String]) {
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    return (parts[0], values(parts.count > 1 ? parts[1] : ""))
  }

  private static func values(_ form: String) -> [String: String] {
    var components = URLComponents()
    components.percentEncodedQuery = form.replacing("+", with: "%20")
    let items = components.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }
}
