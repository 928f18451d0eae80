import ApusCore

/// The tokens of a sign-in or a refresh (RFC 6749 §5.1).
///
/// ```swift
/// let tokens = Tokens(access: "2YotnFZFEjr1zCsicMWpAA", refresh: "tGzv3JOkF0XG5Qx2TlKWIA", lifetime: .seconds(3600))
/// ```
///
/// It can be decoded from the response of a token endpoint. It is not `Encodable`; store its parts.
public struct Tokens: Sendable, Hashable {
  /// The access token, sent with every message.
  public var access: Secret
  /// The refresh token; `nil`: the tokens are not refreshed, or the refresh needs no token.
  public var refresh: Secret?
  /// The lifetime of the access token from when it was issued; `nil`: unknown.
  public var lifetime: Duration?

  /// Creates tokens from their parts.
  public init(access: Secret, refresh: Secret? = nil, lifetime: Duration? = nil) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
  }
}

extension Tokens: Decodable {
  /// The members, by the standard's names and in camel case, as decoders with a key strategy see them.
  private enum Member: String, CodingKey {
    case access = "access_token"
    case camelCaseAccess = "accessToken"
    case refresh = "refresh_token"
    case camelCaseRefresh = "refreshToken"
    case lifetime = "expires_in"
    case camelCaseLifetime = "expiresIn"
  }

  /// Reads `access_token`, `refresh_token` and `expires_in`, in seconds (RFC 6749 §5.1).
  ///
  /// - Throws: `DecodingError` if there is no access token. A lifetime that is not a number is ignored.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    func name(_ standard: Member, _ camelCase: Member) -> Member { members.contains(camelCase) ? camelCase : standard }
    access = Secret(try members.decode(String.self, forKey: name(.access, .camelCaseAccess)))
    let refresh = try members.decodeIfPresent(String.self, forKey: name(.refresh, .camelCaseRefresh))
    self.refresh = refresh.map { Secret($0) }
    // Some servers write the number as a string.
    let key = name(.lifetime, .camelCaseLifetime)
    let text = try? members.decode(String.self, forKey: key)
    let seconds = (try? members.decode(Double.self, forKey: key)) ?? text.flatMap { Double($0) }
    lifetime = seconds.flatMap { $0 > 0 && $0 < 1e10 ? Duration(clampingSeconds: $0) : nil }
  }
}

extension Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `tokens ██`
  public var description: String { "tokens ██" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
