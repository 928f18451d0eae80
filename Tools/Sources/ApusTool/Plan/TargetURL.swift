import Apus

/// A URL of the command line, split into the parts of a request.
///
/// The target is sent as written, except that invalid characters are percent-encoded and dot segments are removed (RFC
/// 3986 §5.2.4). The fragment is not sent.
struct TargetURL: Sendable, Hashable {
  /// An invalid URL.
  struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, as part of a sentence; without the URL, which may contain a password.
    let reason: String
    var description: String { "the URL is invalid: \(reason)" }
  }

  /// The user name and password in a URL.
  struct UserInformation: Sendable, Hashable {
    let user: String
    let password: Secret
  }

  /// The scheme, host and port.
  let origin: Origin
  /// The path and query.
  let target: String
  /// The decoded user information; `nil` for none.
  let userInformation: UserInformation?

  /// Parses a URL by bytes, so that a combining mark after a delimiter does not hide the delimiter.
  ///
  /// - Parameters:
  ///   - text: an http or https URL.
  ///   - completesScheme: whether a missing scheme is added: http for this machine, otherwise https. Default: `false`.
  init(_ text: String, completesScheme: Bool = false) throws(Malformed) {
    var rest = Array(text.utf8)[...].prefix { $0 != UInt8(ascii: "#") }
    let scheme = Self.removeScheme(&rest)
    guard scheme != nil || completesScheme else { throw Malformed(reason: "it has no scheme and host") }
    let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    var authority = rest[..<end]
    if let mark = authority.lastIndex(of: UInt8(ascii: "@")) {
      userInformation = try UserInformation(authority[..<mark])
      authority = authority[(mark + 1)...]
    } else {
      userInformation = nil
    }
    let defaultScheme = Self.isThisMachine(authority) ? "http" : "https"
    do {
      guard
        let origin = try BaseURL("\(scheme ?? defaultScheme)://\(String(decoding: authority, as: UTF8.self))").origin
      else { throw Malformed(reason: "it has no host") }
      self.origin = origin
    } catch let error as BaseURL.ParseError {
      throw Malformed(reason: error.reason)
    } catch {
      throw Malformed(reason: "it has no host")
    }
    target = Self.target(rest[end...])
  }

  /// Parses a URL of the command line.
  ///
  /// - Parameters:
  ///   - word: a URL, with or without scheme, or a path if there is an origin.
  ///   - origin: the origin of paths; `nil` if paths are not allowed.
  init(word: String, relativeTo origin: Origin?) throws(Malformed) {
    // Two slashes would precede a host.
    if let origin, word.utf8.starts(with: "/".utf8), !word.utf8.starts(with: "//".utf8) {
      try self.init("\(origin)\(word)")
    } else {
      try self.init(word, completesScheme: true)
    }
  }

  /// Whether the host is this machine.
  var isOfThisMachine: Bool { Self.isThisMachine(Array(origin.host.utf8)[...]) }

  /// The endpoint's name in traces: the path if it has only unreserved characters, otherwise `/`.
  var endpointName: String {
    let path = String(target.prefix { $0 != "?" })
    let isPlain = path.utf8.allSatisfy { Self.isUnreserved($0) || $0 == UInt8(ascii: "/") }
    return isPlain && !path.hasPrefix("//") ? path : "/"
  }

  /// Removes and returns the scheme of a URL; `nil` if the URL has no scheme. A `://` in a query or a password delimits no
  /// scheme.
  private static func removeScheme(_ text: inout ArraySlice<UInt8>) -> String? {
    let length = text.prefix { !"/?:@[".utf8.contains($0) }.count
    guard text.dropFirst(length).starts(with: "://".utf8) else { return nil }
    defer { text = text.dropFirst(length + 3) }
    return String(decoding: text.prefix(length), as: UTF8.self).lowercased()
  }

  private static func isThisMachine(_ authority: ArraySlice<UInt8>) -> Bool {
    let isBracketed = authority.first == UInt8(ascii: "[")
    let end = isBracketed ? UInt8(ascii: "]") : UInt8(ascii: ":")
    let host = String(decoding: authority.prefix { $0 != end }, as: UTF8.self)
    // A host name may start like an address.
    let isAddress = host.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
    }
    return host.lowercased() == "localhost" || host.utf8.starts(with: "127.".utf8) && isAddress || host == "[::1"
  }

  // MARK: Path and query

  private static func target(_ text: ArraySlice<UInt8>) -> String {
    let mark = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
    let path = withoutDotSegments(encoded(text[..<mark]))
    return (path.isEmpty ? "/" : path) + encoded(text[mark...])
  }

  /// - Parameter path: a percent-encoded path, so all characters are ASCII.
  private static func withoutDotSegments(_ path: String) -> String {
    guard path.contains("/.") || path.lowercased().contains("/%2e") else { return path }
    var kept: [Substring] = []
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      switch segment.lowercased().replacing("%2e", with: ".") {
      case ".": if index == segments.count - 1 { kept.append("") }
      case "..":
        if !kept.isEmpty { kept.removeLast() }
        if index == segments.count - 1 { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }

  /// Percent-encodes the characters that a URL must not contain (RFC 3986 §2).
  private static func encoded(_ text: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text {
      if isUnreserved(byte) || "!$&'()*+,;=:@/?[]%".utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

extension TargetURL.UserInformation {
  /// Splits at the first colon before decoding, so that encoded colons belong to the user or password.
  fileprivate init(_ bytes: ArraySlice<UInt8>) throws(TargetURL.Malformed) {
    let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    user = try Self.decoded(bytes[..<(colon ?? bytes.endIndex)])
    password = Secret(
      try colon.map { colon throws(TargetURL.Malformed) in try Self.decoded(bytes[(colon + 1)...]) } ?? "")
    // The server could not find the end of the name (RFC 7617 §2).
    guard !user.utf8.contains(UInt8(ascii: ":")) else {
      throw TargetURL.Malformed(reason: "its user name contains a colon")
    }
  }

  /// Decodes percent-escapes; invalid escapes stay unchanged.
  private static func decoded(_ bytes: ArraySlice<UInt8>) throws(TargetURL.Malformed) -> String {
    var decoded: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, let high = hexValue(rest[rest.startIndex]),
        let low = hexValue(rest[rest.startIndex + 1])
      {
        decoded.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    guard let text = String(validating: decoded, as: UTF8.self) else {
      throw TargetURL.Malformed(reason: "its user name or password is not UTF-8")
    }
    return text
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
