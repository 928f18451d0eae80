/// Scheme, host and port: the unit that credentials and limits are bound to (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  /// Lower case, for example `https`.
  public let scheme: String
  /// Lower case; IPv6 addresses in brackets.
  public let host: String
  /// The port, the scheme's own when none was written.
  public let port: Int

  /// Makes an origin of its parts; scheme and host are lower-cased.
  public init(scheme: String, host: String, port: Int) {
    self.scheme = scheme.lowercased()
    self.host = host.lowercased()
    self.port = port
  }

  /// Reads `host` or `host:port`; `nil` when that is not what `authority` is.
  public init?(scheme: String, authority: String) {
    let scheme = scheme.lowercased()
    guard let defaultPort = Self.defaultPort(of: scheme), !authority.isEmpty else { return nil }
    let afterHost = authority.utf8.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    guard let colon = authority[afterHost...].lastIndex(of: ":") else {
      self.init(scheme: scheme, host: authority, port: defaultPort)
      return
    }
    guard let port = Int(authority[authority.index(after: colon)...]), colon > authority.startIndex else { return nil }
    self.init(scheme: scheme, host: String(authority[..<colon]), port: port)
  }

  /// The port that a scheme uses when none is written; `nil` for schemes other than http and https.
  static func defaultPort(of scheme: String) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }

  /// The authority as written in a URL: the port only where it is not the scheme's own.
  public var authority: String {
    port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)"
  }

  /// For example `https://api.example.com`.
  public var description: String { "\(scheme)://\(authority)" }
}
