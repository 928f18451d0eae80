/// Reads a base URL by the grammar of RFC 3986, strictly: what is not clearly right is refused.
enum BaseURLParser {
  typealias Malformed = BaseURL.Malformed

  static func parse(_ text: String) throws(Malformed) -> BaseURL.Parts {
    guard !text.utf8.contains(where: { $0.isControl || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") }) else {
      throw Malformed(reason: "it holds spaces, backslashes or control characters")
    }
    let text = text[...]
    guard let separator = text.firstRange(of: "://") else { throw Malformed(reason: "it has no scheme and host") }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard let defaultPort = Origin.defaultPort(of: scheme) else {
      throw Malformed(reason: "its scheme is neither http nor https")
    }
    let rest = text[separator.upperBound...]
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

  private static func split(authority: Substring) throws(Malformed) -> (host: Substring, port: Int?) {
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw Malformed(reason: "it holds user information; use credentials")
    }
    let hostEnd: Substring.Index
    if authority.hasPrefix("[") {
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

  private static func query(_ text: Substring) throws(Malformed) -> String? {
    guard !text.isEmpty else { return nil }
    var encoded = ""
    encoded.appendQueryText(text)
    if let fault = PathRules.fault(inQuery: encoded) { throw Malformed(reason: fault.detail) }
    return encoded
  }
}
