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

  /// Reads `host` or `host:port`; `nil` when that is not what `authority` is, for example with user information.
  public init?(scheme: String, authority: String) {
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
        digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
        let number = Int(Substring(digits)), (1...65535).contains(number)
      else { return nil }
      port = number
    }
    self.init(scheme: scheme, host: String(authority[..<hostEnd]), port: port)
  }

  /// Everything but delimiters, spaces and controls: names are checked where they are made.
  private static func isAllowedInName(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && !"@/?#\\[]<>\"".utf8.contains(byte)
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
