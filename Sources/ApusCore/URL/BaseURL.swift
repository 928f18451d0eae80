/// Where a server is: scheme, host and port, and what all its URLs begin and end with.
///
/// A literal is checked when a call uses it: the call then throws `invalidRequest`. To check early, for
/// example a URL from a settings file, write `try BaseURL(text)`.
///
/// Path and query are kept: below `https://api.example.com/v1?region=eu` the path `/users` gives
/// `https://api.example.com/v1/users?region=eu`. Hosts may be IPv6 addresses in brackets and names in any
/// language, which are sent in their ASCII form (RFC 3986, RFC 5891).
public struct BaseURL: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// A base URL that cannot be used.
  public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as half a sentence. Never the text itself, which may hold a password.
    public let reason: String
    /// The reason in a sentence.
    public var description: String { "the base URL cannot be used: \(reason)" }
  }

  struct Parts: Sendable, Hashable, CustomReflectable {
    var origin: Origin
    /// Percent-encoded, without a slash at its end; empty for none.
    var path: String
    /// Percent-encoded, without `?`; `nil` for none.
    var query: String?
    let authority: String

    /// The query may hold a key, and whatever holds a call holds this.
    var customMirror: Mirror { Mirror(self, children: ["description": "\(origin)\(path)"]) }
  }

  let parts: Result<Parts, Malformed>

  /// Checks a URL.
  ///
  /// - Parameter text: an absolute http or https URL without user information and fragment.
  /// - Throws: ``Malformed``, which says what is wrong.
  public init(_ text: String) throws(Malformed) {
    parts = .success(try BaseURLParser.parse(text))
  }

  /// Takes what a person types, for example in a settings screen: `localhost:8080`, `api.example.com/v1/`.
  ///
  /// Spaces around it are left out, and where there is no scheme one is added: `http` for a loopback host (`localhost`,
  /// `127.0.0.1`, `[::1]` and their like), `https` for all others. Everything else is checked as by ``init(_:)``: user
  /// information, fragments and other schemes are refused.
  ///
  /// - Parameter text: a host, with or without a scheme, a port, a path and a query.
  /// - Throws: ``Malformed``, which says what is wrong.
  public init(lenient text: String) throws(Malformed) {
    parts = .success(try BaseURLParser.parse(BaseURLParser.completed(text)))
  }

  /// Takes a literal without checking it; calls that use a malformed one throw `invalidRequest`.
  public init(stringLiteral value: String) {
    parts = Result { () throws(Malformed) in try BaseURLParser.parse(value) }
  }

  /// Scheme, host and port; `nil` when the literal was malformed.
  public var origin: Origin? {
    (try? parts.get())?.origin
  }

  /// The URL without its query; what is wrong with it when it is malformed.
  public var description: String {
    switch parts {
    case .success(let parts): "\(parts.origin)\(parts.path)"
    case .failure(let malformed): malformed.description
    }
  }
}

/// Reads a base URL by the grammar of RFC 3986, strictly: what is not clearly right is refused.
enum BaseURLParser {
  typealias Malformed = BaseURL.Malformed

  static func parse(_ text: String) throws(Malformed) -> BaseURL.Parts {
    guard !text.utf8.contains(where: { $0.isControl || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") }) else {
      throw Malformed(reason: "it holds spaces, backslashes or control characters")
    }
    let text = text[...]
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else {
      throw Malformed(reason: "it has no scheme and host")
    }
    let scheme = text[..<colon].lowercased()
    guard let defaultPort = Origin.defaultPort(of: scheme) else {
      throw Malformed(reason: "its scheme is neither http nor https")
    }
    let rest = text[text.utf8.index(colon, offsetBy: 3)...]
    guard !rest.utf8.contains(UInt8(ascii: "#")) else { throw Malformed(reason: "it has a fragment") }
    let authorityEnd = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    let (host, port) = try split(authority: rest[..<authorityEnd])
    let origin = Origin(scheme: scheme, host: try Host.normalized(host), port: port ?? defaultPort)
    let tail = rest[authorityEnd...]
    let mark = tail.utf8.firstIndex(of: UInt8(ascii: "?"))
    return BaseURL.Parts(
      origin: origin, path: try path(tail[..<(mark ?? tail.endIndex)]),
      query: try mark.flatMap { mark throws(Malformed) in try query(tail[tail.utf8.index(after: mark)...]) },
      authority: origin.authority)
  }

  /// The text with a scheme, without the white space around it.
  static func completed(_ text: String) -> String {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (byte >= 0x09 && byte <= 0x0D) }
    let bytes = text.utf8.drop(while: isBlank)
    let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? bytes.startIndex
    let typed = Substring(bytes[..<end])
    guard !hasScheme(typed.utf8) else { return String(typed) }
    let rest = typed.utf8.starts(with: "//".utf8) ? Substring(typed.utf8.dropFirst(2)) : typed
    let isLoopback = (try? parse("http://\(rest)"))?.origin.isLoopback ?? false
    return "\(isLoopback ? "http" : "https")://\(rest)"
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

  private static func split(authority: Substring) throws(Malformed) -> (host: Substring, port: Int?) {
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw Malformed(reason: "it holds user information; use credentials")
    }
    let hostEnd: Substring.Index
    if authority.utf8.first == UInt8(ascii: "[") {
      guard let bracket = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else {
        throw Malformed(reason: "its IPv6 address never ends")
      }
      hostEnd = authority.utf8.index(after: bracket)
    } else {
      hostEnd = authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    }
    let host = authority[..<hostEnd]
    guard !host.isEmpty else { throw Malformed(reason: "it has no host") }
    let portText = authority[hostEnd...]
    guard !portText.isEmpty else { return (host, nil) }
    let digits = Substring(portText.utf8.dropFirst())
    guard portText.utf8.first == UInt8(ascii: ":"),
      digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
      let port = Int(digits), (1...65535).contains(port)
    else { throw Malformed(reason: "its port is not a number from 1 to 65535") }
    return (host, port)
  }

  private static func path(_ text: Substring) throws(Malformed) -> String {
    var encoded = ""
    PercentEncoding.append(text, as: .pathText, to: &encoded)
    while encoded.utf8.last == UInt8(ascii: "/") { encoded.removeLast() }
    if let reason = PathRules.reason(inPath: encoded) { throw Malformed(reason: reason) }
    return encoded
  }

  private static func query(_ text: Substring) throws(Malformed) -> String? {
    guard !text.isEmpty else { return nil }
    var encoded = ""
    encoded.appendQueryText(text)
    if let reason = PathRules.reason(inQuery: encoded) { throw Malformed(reason: reason) }
    return encoded
  }
}

extension Origin {
  /// Whether its host is this machine, by its name alone (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
  fileprivate var isLoopback: Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
    let isAddress = host.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
    }
    return isAddress && host.hasPrefix("127.")
  }
}
