import ApusCore
import ApusJSON
import ApusMiddleware

/// The tokens of a response (RFC 6749 §5.1).
struct TokenResponse {
  /// The step that requested the tokens.
  let step: OAuthError.Step
  /// The key whose proof was sent; `nil` if no proof was sent.
  let key: ProofKey?
  /// Whether an access token that is not bound to the key is accepted.
  let acceptsBearer: Bool

  /// Reads a response.
  func tokens(_ json: JSONValue) throws(OAuthError) -> Tokens {
    guard let access = json.text("access_token"), access.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw OAuthError(step, .malformedResponse, "the response has no access token that can be sent")
    }
    let bindsAccess = try isBound(json.member("token_type"), access: access)
    var tokens = Tokens(access: Secret(access))
    tokens.refresh = json.text("refresh_token").map { Secret($0) }
    tokens.lifetime = Self.lifetime(json)
    tokens.scopes = Self.scopes(json)
    tokens.idToken = json.text("id_token").map { Secret($0) }
    // The refresh token of a client without a secret is bound to the key of the proof, even if the access token is not
    // bound (RFC 9449 §5).
    if var key, bindsAccess || tokens.refresh != nil || step == .refresh {
      key.bindsAccess = bindsAccess
      tokens.proofKey = key.secret
    }
    return tokens
  }

  /// Whether the access token is bound to the key.
  private func isBound(_ type: JSONValue?, access: String) throws(OAuthError) -> Bool {
    let text = type.map { $0.string ?? "\($0)" } ?? ""
    switch text.split(separator: " ").joined(separator: " ").lowercased() {
    case "dpop" where key != nil: return true
    case "", "bearer":
      guard key == nil || acceptsBearer else {
        throw OAuthError(step, .malformedResponse, "the server did not bind the token to the key")
      }
      return false
    default:
      let name = ServerName.quoted(text, besides: [access]).map { " \($0)" } ?? ""
      throw OAuthError(step, .malformedResponse, "the response has a token type\(name) that is not supported")
    }
  }

  private static func scopes(_ json: JSONValue) -> [String]? {
    let scopes = json.text("scope").map { Tokens.scopes(in: $0) } ?? json.strings("scope").map { Tokens.scopes(of: $0) }
    return scopes?.isEmpty == false ? scopes : nil
  }

  /// Returns the lifetime of a token or a code; `nil` if unknown.
  static func lifetime(_ json: JSONValue) -> Duration? {
    json.seconds("expires_in").flatMap { $0 > 0 && $0 < 1e10 ? Duration(clampingSeconds: $0) : nil }
  }
}
