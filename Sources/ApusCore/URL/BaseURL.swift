/// The base URL of a server: scheme, host, port and optionally a path and a query.
///
/// A literal is not checked: calls with a malformed literal fail with `invalidRequest`. Use `try BaseURL(text)` to
/// check a URL early, for example a URL from a settings file.
///
/// Path and query are kept: with the base URL `https://api.example.com/v1?region=eu` the path `/users` becomes
/// `https://api.example.com/v1/users?region=eu`. The host may be an IPv6 address in brackets or an internationalized
/// name, which is sent in its ASCII form (RFC 3986, RFC 5891).
public struct BaseURL: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The error for a base URL that cannot be used.
  public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason as a clause. Never contains the URL, because the URL may contain a password.
    public let reason: String
    /// The reason in a sentence.
    public var description: String { "the base URL cannot be used: \(reason)" }
  }

  struct Parts: Sendable, Hashable, CustomReflectable {
    var origin: Origin
    /// The percent-encoded path without a trailing slash. Empty if there is none.
    var path: String
    /// The percent-encoded query without `?`, or `nil` if there is none.
    var query: String?
    let authority: String

    // The query may contain an API key, and `dump` of a call reaches this value.
    var customMirror: Mirror { Mirror(self, children: ["description": "\(origin)\(path)"]) }
  }

  let parts: Result<Parts, ParseError>

  /// Creates a base URL.
  ///
  /// - Parameter text: an absolute http or https URL without user information and fragment.
  /// - Throws: ``ParseError`` with the reason.
  public init(_ text: String) throws(BaseURL.ParseError) {
    parts = .success(try BaseURLParser.parse(text))
  }

  /// Creates a base URL from text that a person typed, for example `localhost:8080` or `api.example.com/v1/`.
  ///
  /// Surrounding white space is removed. A missing scheme becomes `http` for a loopback host (such as `localhost`,
  /// `127.0.0.1` and `[::1]`) and `https` for any other. All other rules of ``init(_:)`` apply: user information,
  /// fragments and other schemes are errors.
  ///
  /// - Parameter text: a host, with or without a scheme, a port, a path and a query.
  /// - Throws: ``ParseError`` with the reason.
  public init(lenient text: String) throws(BaseURL.ParseError) {
    parts = .success(try BaseURLParser.parse(BaseURLParser.completed(text)))
  }

  /// Creates a base URL from a literal. Calls with a malformed literal fail with `invalidRequest`.
  public init(stringLiteral value: String) {
    parts = Result { () throws(BaseURL.ParseError) in try BaseURLParser.parse(value) }
  }

  /// The scheme, host and port, or `nil` if the literal is malformed.
  public var origin: Origin? {
    (try? parts.get())?.origin
  }

  /// The URL without its query, or the reason why the URL is malformed.
  public var description: String {
    switch parts {
    case .success(let parts): "\(parts.origin)\(parts.path)"
    case .failure(let malformed): malformed.description
    }
  }
}

/// A strict parser for base URLs (RFC 3986).
enum BaseURLParser {
  static func parse(_ text: String) throws(BaseURL.ParseError) -> BaseURL.Parts {
    guard !text.utf8.contains(where: { $0.isControl || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") }) else {
      throw BaseURL.ParseError(reason: "it contains spaces, backslashes or control characters")
    }
    let text = text[...]
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else {
      throw BaseURL.ParseError(reason: "it has no scheme and host")
    }
    let scheme = text[..<colon].lowercased()
    guard let defaultPort = Origin.defaultPort(of: scheme) else {
      throw BaseURL.ParseError(reason: "its scheme is neither http nor https")
    }
    let rest = text[text.utf8.index(colon, offsetBy: 3)...]
    guard !rest.utf8.contains(UInt8(ascii: "#")) else { throw BaseURL.ParseError(reason: "it has a fragment") }
    let authorityEnd = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    let (host, port) = try split(authority: rest[..<authorityEnd])
    let origin = Origin(scheme: scheme, host: try Host.normalized(host), port: port ?? defaultPort)
    let tail = rest[authorityEnd...]
    let mark = tail.utf8.firstIndex(of: UInt8(ascii: "?"))
    return BaseURL.Parts(
      origin: origin, path: try path(tail[..<(mark ?? tail.endIndex)]),
      query: try mark.flatMap { mark throws(BaseURL.ParseError) in try query(tail[tail.utf8.index(after: mark)...]) },
      authority: origin.authority)
  }

  /// Returns the text with a scheme and without surrounding white space.
  static func completed(_ text: String) -> String {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (byte >= 0x09 && byte <= 0x0D) }
    let bytes = text.utf8.drop(while: isBlank)
    let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? bytes.startIndex
    let typed = Substring(bytes[..<end])
    guard !hasScheme(typed.utf8) else { return String(typed) }
    let rest = typed.utf8.starts(with: "//".utf8) ? Substring(typed.utf8.dropFirst(2)) : typed
    let origin = (try? parse("http://\(rest)"))?.origin
    // For typed text, names below `localhost` count as loopback hosts, too (RFC 6761 §6.3); this affects only the
    // default scheme.
    let isLocal = origin.map { $0.isThisMachine || $0.host.hasSuffix(".localhost") } ?? false
    return "\(isLocal ? "http" : "https")://\(rest)"
  }

  /// Whether a text begins with a scheme and two slashes (RFC 3986 §3.1).
  private static func hasScheme(_ text: Substring.UTF8View) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let isScheme = text[..<colon].allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
    return isScheme && text[text.index(after: colon)...].starts(with: "//".utf8)
  }

  private static func split(authority: Substring) throws(BaseURL.ParseError) -> (host: Substring, port: Int?) {
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw BaseURL.ParseError(reason: "it contains user information; use credentials")
    }
    let hostEnd: Substring.Index
    if authority.utf8.first == UInt8(ascii: "[") {
      guard let bracket = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else {
        throw BaseURL.ParseError(reason: "its IPv6 address has no closing bracket")
      }
      hostEnd = authority.utf8.index(after: bracket)
    } else {
      hostEnd = authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    }
    let host = authority[..<hostEnd]
    guard !host.isEmpty else { throw BaseURL.ParseError(reason: "it has no host") }
    let portText = authority[hostEnd...]
    guard !portText.isEmpty else { return (host, nil) }
    let digits = Substring(portText.utf8.dropFirst())
    guard portText.utf8.first == UInt8(ascii: ":"),
      digits.utf8.allSatisfy({ $0.isDigit }),
      let port = Int(digits), (1...65535).contains(port)
    else { throw BaseURL.ParseError(reason: "its port is not a number from 1 to 65535") }
    return (host, port)
  }

  private static func path(_ text: Substring) throws(BaseURL.ParseError) -> String {
    var encoded = ""
    PercentEncoding.append(text, as: .pathText, to: &encoded)
    while encoded.utf8.last == UInt8(ascii: "/") { encoded.removeLast() }
    if let reason = PathRules.reason(inPath: encoded) { throw BaseURL.ParseError(reason: reason) }
    return encoded
  }

  private static func query(_ text: Substring) throws(BaseURL.ParseError) -> String? {
    guard !text.isEmpty else { return nil }
    var encoded = ""
    encoded.appendQueryText(text)
    if let reason = PathRules.reason(inQuery: encoded) { throw BaseURL.ParseError(reason: reason) }
    return encoded
  }
}
