import HTTPTypes

/// A link in a `Link` field (header) (RFC 8288 §3), for example to the next page of a list.
public struct WebLink: Sendable, Hashable {
  /// The target, a URI reference as the server wrote it: absolute or relative to the URL of the request.
  public let target: String
  /// The relation types in lower case, for example `next` (RFC 8288 §3.3).
  public let relations: [String]
  private let parameters: [String: String]

  /// Returns the value of the first parameter with a case-insensitive name such as `title`.
  public func parameter(_ name: String) -> String? {
    parameters[name.lowercased()]
  }

  /// Returns the decoded value of the first parameter with this name in the target's query, for example `page`.
  ///
  /// A request for the next page usually needs this value rather than the target, because an endpoint's path is
  /// relative to the base URL.
  public func queryValue(_ name: String) -> String? {
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    let query = target.utf8[target.utf8.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
    for item in query.split(separator: UInt8(ascii: "&")) {
      let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard PercentEncoding.decode(Substring(parts[0])) == name else { continue }
      return parts.count > 1 ? PercentEncoding.decode(Substring(parts[1])) : ""
    }
    return nil
  }

  /// Returns the links of all `Link` fields. In each field, the links after a syntax error are left out.
  static func all(in fields: HTTPFields) -> [WebLink] {
    guard let name = HTTPField.Name("link") else { return [] }
    var links: [WebLink] = []
    for value in fields[values: name] {
      var parser = WebLinkParser(Array(value.utf8))
      while let link = parser.next() { links.append(link) }
    }
    return links
  }

  fileprivate init(target: String, parameters: [String: String]) {
    (self.target, self.parameters) = (target, parameters)
    relations =
      parameters["rel"].map { $0.utf8.split(separator: UInt8(ascii: " ")) }
      .map { $0.map { Substring($0).lowercased() } } ?? []
  }
}

/// A single-pass parser for the value of a `Link` field (RFC 8288 §B.2).
private struct WebLinkParser {
  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the next link, or `nil` at the end and at a syntax error.
  mutating func next() -> WebLink? {
    skip { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
    guard take(UInt8(ascii: "<")) else { return nil }
    let target = read { $0 != UInt8(ascii: ">") }
    guard take(UInt8(ascii: ">")) else { return nil }
    var parameters: [String: String] = [:]
    while let (name, value) = parameter() {
      // The first of several parameters with the same name counts (RFC 8288 §3.3).
      if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
    }
    skip { $0 != UInt8(ascii: ",") }
    return WebLink(target: target, parameters: parameters)
  }

  private mutating func parameter() -> (name: String, value: String)? {
    skip(Self.isSpace)
    guard take(UInt8(ascii: ";")) else { return nil }
    skip(Self.isSpace)
    let name = read { !Self.isSpace($0) && !Self.endsToken($0) && $0 != UInt8(ascii: "=") }.lowercased()
    skip(Self.isSpace)
    guard take(UInt8(ascii: "=")) else { return (name, "") }
    skip(Self.isSpace)
    if take(UInt8(ascii: "\"")) { return (name, quoted()) }
    return (name, read { !Self.isSpace($0) && !Self.endsToken($0) })
  }

  /// Reads the rest of a quoted string (RFC 9110 §5.6.4).
  private mutating func quoted() -> String {
    var text: [UInt8] = []
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
      text.append(bytes[index])
      index += 1
    }
    index += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    while index < bytes.count, matches(bytes[index]) { index += 1 }
  }

  private mutating func read(_ matches: (UInt8) -> Bool) -> String {
    let start = index
    skip(matches)
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func endsToken(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") }
}
