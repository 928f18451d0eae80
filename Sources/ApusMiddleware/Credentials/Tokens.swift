import ApusCore

/// What a sign-in or a refresh gives: a token that is shown to the server, and what is known of its end
/// (RFC 6749 §5.1).
///
/// ```swift
/// let tokens = Tokens(access: "2YotnFZFEjr1zCsicMWpAA", refresh: "tGzv3JOkF0XG5Qx2TlKWIA", lifetime: .seconds(3600))
/// ```
///
/// It can be decoded from the answer of a token endpoint, and not encoded: whoever keeps it somewhere asks for the parts.
public struct Tokens: Sendable, Hashable {
  /// Shown to the server with every message.
  public var access: Secret
  /// Buys new tokens; `nil`: these last as long as they last, or what refreshes them needs nothing.
  public var refresh: Secret?
  /// How long the access token is good from when the server made it; `nil`: nobody knows.
  public var lifetime: Duration?

  /// Tokens by their parts.
  public init(access: Secret, refresh: Secret? = nil, lifetime: Duration? = nil) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
  }
}

extension Tokens: Decodable {
  /// A member, by the standard's name or as a client that turns names round sees it.
  private enum Member: String, CodingKey {
    case access = "access_token"
    case turnedAccess = "accessToken"
    case refresh = "refresh_token"
    case turnedRefresh = "refreshToken"
    case lifetime = "expires_in"
    case turnedLifetime = "expiresIn"
  }

  /// Reads `access_token`, `refresh_token` and `expires_in`, in seconds (RFC 6749 §5.1).
  ///
  /// - Throws: `DecodingError` where there is no access token; a lifetime that is no number is none.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    func name(_ standard: Member, _ turned: Member) -> Member { members.contains(turned) ? turned : standard }
    access = Secret(try members.decode(String.self, forKey: name(.access, .turnedAccess)))
    let refresh = try members.decodeIfPresent(String.self, forKey: name(.refresh, .turnedRefresh))
    self.refresh = refresh.map { Secret($0) }
    // Some servers write the number as text.
    let place = name(.lifetime, .turnedLifetime)
    let text = try? members.decode(String.self, forKey: place)
    let seconds = (try? members.decode(Double.self, forKey: place)) ?? text.flatMap { Double($0) }
    lifetime = seconds.flatMap { $0 > 0 && $0 < 1e10 ? Duration(clampingSeconds: $0) : nil }
  }
}

extension Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Nothing of them.
  public var description: String { "tokens ██" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
