/// An origin: scheme, host and port (RFC 9110 §4.3.1). Credentials and limits are bound to an origin.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  /// The scheme in lower case, for example `https`.
  public let scheme: String
  /// The host in lower case. IPv6 addresses are in brackets.
  public let host: String
  /// The port, explicit or the scheme's default.
  public let port: Int

  /// Creates an origin. Scheme and host are converted to lower case.
  public init(scheme: String, host: String, port: Int) {
    self.scheme = scheme.lowercased()
    self.host = host.lowercased()
    self.port = port
  }

  /// Creates an origin from `host` or `host:port`. Returns `nil` for any other authority, for example with user
  /// information.
  package init?(scheme: String, authority: String) {
    let scheme = scheme.lowercased()
    guard let defaultPort = Self.defaultPort(of: scheme) else { return nil }
    let bytes = authority.utf8
    let isBracketed = bytes.first == UInt8(ascii: "[")
    guard
      let hostEnd = isBracketed
        ? bytes.firstIndex(of: UInt8(ascii: "]")).map({ bytes.index(after: $0) })
        : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex,
      hostEnd > bytes.startIndex, isBracketed || authority[..<hostEnd].utf8.allSatisfy(Self.isAllowedInName)
    else { return nil }
    var port = defaultPort
    if hostEnd < bytes.endIndex {
      let digits = bytes[hostEnd...].dropFirst()
      guard bytes[hostEnd] == UInt8(ascii: ":"),
        digits.allSatisfy({ $0.isDigit }),
        let number = Int(Substring(digits)), (1...65535).contains(number)
      else { return nil }
      port = number
    }
    self.init(scheme: scheme, host: String(authority[..<hostEnd]), port: port)
  }

  /// Whether a byte is no delimiter, space or control character. ``Host`` validates names completely.
  private static func isAllowedInName(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && !"@/?#\\[]<>\"".utf8.contains(byte)
  }

  /// Returns the default port of a scheme, or `nil` for schemes other than http and https.
  static func defaultPort(of scheme: String) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }

  /// The authority as in a URL, with the port unless it is the scheme's default.
  public var authority: String {
    port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)"
  }

  /// The origin as text, for example `https://api.example.com`.
  public var description: String { "\(scheme)://\(authority)" }
}

extension Origin {
  /// Whether following a URL from `source` to this origin changes from https to http.
  ///
  /// Checked for every URL that a response names: for redirects, pages, uploads, polls and the endpoints in metadata.
  package func isDowngrade(from source: Origin) -> Bool { scheme == "http" && source.scheme == "https" }

  /// Whether messages to the host stay on this machine: `localhost`, or a loopback address in its usual form
  /// (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). Other names might resolve to any address.
  package var isThisMachine: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { $0.utf8.allSatisfy(\.isDigit) && UInt8($0) != nil }
  }
}
