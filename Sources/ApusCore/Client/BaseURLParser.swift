/// Reads a base URL by the grammar of RFC 3986, strictly: what is not clearly right is refused.
enum BaseURLParser {
  typealias Malformed = BaseURL.Malformed

  static func parse(_ text: String) throws(Malformed) -> BaseURL.Parts {
    guard !text.utf8.contains(where: { $0.isControl || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") }) else {
      throw Malformed(reason: "it holds spaces, backslashes or control characters")
    }
    guard let separator = text.range(of: "://") else { throw Malformed(reason: "it has no scheme and host") }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard let defaultPort = Origin.defaultPort(of: scheme) else {
      throw Malformed(reason: "its scheme is neither http nor https")
    }
    let rest = text[separator.upperBound...]
    guard !rest.contains("#") else { throw Malformed(reason: "it has a fragment") }
    let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let (host, port) = try split(authority: rest[..<authorityEnd])
    let origin = Origin(scheme: scheme, host: try Host.normalized(host), port: port ?? defaultPort)
    let tail = rest[authorityEnd...]
    let mark = tail.firstIndex(of: "?")
    return BaseURL.Parts(
      origin: origin, path: try path(tail[..<(mark ?? tail.endIndex)]),
      query: mark.flatMap { query(tail[tail.index(after: $0)...]) }, authority: origin.authority)
  }

  private static func split(authority: Substring) throws(Malformed) -> (host: Substring, port: Int?) {
    guard !authority.contains("@") else { throw Malformed(reason: "it holds user information; use credentials") }
    let hostEnd: Substring.Index
    if authority.hasPrefix("[") {
      guard let bracket = authority.firstIndex(of: "]") else { throw Malformed(reason: "its IPv6 address never ends") }
      hostEnd = authority.index(after: bracket)
    } else {
      hostEnd = authority.firstIndex(of: ":") ?? authority.endIndex
    }
    let host = authority[..<hostEnd]
    guard !host.isEmpty else { throw Malformed(reason: "it has no host") }
    let portText = authority[hostEnd...]
    guard !portText.isEmpty else { return (host, nil) }
    let digits = portText.dropFirst()
    guard portText.hasPrefix(":"), digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
      let port = Int(digits), (1...65535).contains(port)
    else { throw Malformed(reason: "its port is not a number from 1 to 65535") }
    return (host, port)
  }

  private static func path(_ text: Substring) throws(Malformed) -> String {
    var encoded = ""
    PercentEncoding.append(text, as: .pathText, to: &encoded)
    while encoded.hasSuffix("/") { encoded.removeLast() }
    if let fault = PathRules.fault(in: encoded) { throw Malformed(reason: fault.detail) }
    return encoded
  }

  private static func query(_ text: Substring) -> String? {
    guard !text.isEmpty else { return nil }
    var encoded = ""
    PercentEncoding.append(text.replacing("?", with: "%3F"), as: .pathText, to: &encoded)
    return encoded
  }
}

extension StringProtocol {
  /// The first place where `other` stands.
  fileprivate func range(of other: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(other) { return start..<index(start, offsetBy: other.count) }
      start = index(after: start)
    }
    return nil
  }
}
