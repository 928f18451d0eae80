#if OAuth
import ApusCore
import ApusJSON
import ApusMiddleware

/// The tokens of a response (RFC 6749 §5.1).
enum TokenResponse {
  /// Reads a response.
  ///
  /// - Parameters:
  ///   - key: the key to which the tokens must be bound; `nil`: none.
  ///   - step: the step that asked for the tokens.
  static func tokens(_ json: JSONValue, boundTo key: ProofKey?, _ step: OAuthError.Step) throws(OAuthError) -> Tokens {
    guard let access = json["access_token"]?.string, !access.isEmpty,
      access.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw OAuthError(step, .malformedResponse, "the response has no access token that can be sent") }
    switch json["token_type"]?.string?.lowercased() {
    case "dpop" where key != nil: break
    case "bearer" where key == nil: break
    case "bearer":
      throw OAuthError(step, .malformedResponse, "the server did not bind the token to the key")
    case nil: throw OAuthError(step, .malformedResponse, "the response has no token type")
    default: throw OAuthError(step, .malformedResponse, "the response has a token type that is not supported")
    }
    var tokens = Tokens(access: Secret(access))
    tokens.refresh = json["refresh_token"]?.string.map { Secret($0) }
    tokens.lifetime = lifetime(json["expires_in"])
    tokens.scopes = json["scope"]?.string.map { Tokens.scopes(in: $0) }
    tokens.idToken = json["id_token"]?.string.map { Secret($0) }
    tokens.proofKey = key?.secret
    return tokens
  }

  /// A number of seconds, which some servers write as a string. `nil`: unknown.
  static func lifetime(_ json: JSONValue?) -> Duration? {
    let seconds = json?.number?.double ?? json?.string.flatMap { Double($0) }
    return seconds.flatMap { $0 > 0 && $0 < 1e10 ? Duration(clampingSeconds: $0) : nil }
  }
}
#endif
