import Apus

/// A URL as somebody wrote it, split into what a message needs.
///
/// The target is sent as it was written: only what may not stand there is percent-encoded, and dot segments are taken
/// out (RFC 3986 §5.2.4), since they name another target. The fragment stays here.
struct TargetURL: Sendable, Hashable {
  /// A URL that cannot be used.
  struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why, as half a sentence. Never the URL itself, which may hold a password.
    let reason: String
    var description: String { "the URL cannot be used: \(reason)" }
  }

  /// Scheme, host and port.
  let origin: Origin
  /// Path and query.
  let target: String
  /// What stood before `@`, as `user:password`, decoded.
  let userInformation: String?

  /// Reads a URL.
  ///
  /// - Parameters:
  ///   - text: an http or https URL.
  ///   - completesScheme: whether a missing scheme is added: http for this machine, https for all others.
  init(_ text: String, completesScheme: Bool = false) throws(Malformed) {
    var rest = Substring(text.prefix { $0 != "#" })
    let scheme = Self.takeScheme(&rest)
    guard scheme != nil || completesScheme else { throw Malformed(reason: "it has no scheme and host") }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    var authority = rest[..<end]
    var user: String?
    if let mark = authority.lastIndex(of: "@") {
      user = Self.decoded(authority[..<mark])
      authority = authority[authority.index(after: mark)...]
    }
    let standard = Self.isThisMachine(authority) ? "http" : "https"
    do {
      guard let origin = try BaseURL("\(scheme ?? standard)://\(authority)").origin else {
        throw Malformed(reason: "it has no host")
      }
      self.origin = origin
    } catch let error as BaseURL.Malformed {
      throw Malformed(reason: error.reason)
    } catch {
      throw Malformed(reason: "it has no host")
    }
    userInformation = user
    target = Self.target(rest[end...])
  }

  /// Reads a URL of the command line.
  ///
  /// - Parameters:
  ///   - word: a URL, which may lack its scheme; or a path, where there is an origin.
  ///   - origin: what a path belongs to; `nil`: nothing is a path.
  init(word: String, relativeTo origin: Origin?) throws(Malformed) {
    // Two slashes would begin with a host.
    if let origin, word.hasPrefix("/"), !word.hasPrefix("//") {
      try self.init("\(origin)\(word)")
    } else {
      try self.init(word, completesScheme: true)
    }
  }

  /// Whether what is sent does not leave this machine.
  var isOfThisMachine: Bool { Self.isThisMachine(origin.host[...]) }

  /// A name for the target that traces can show: the path where it is a plain one.
  var endpointName: String {
    let path = String(target.prefix { $0 != "?" })
    let isPlain = path.utf8.allSatisfy { Self.isUnreserved($0) || $0 == UInt8(ascii: "/") }
    return isPlain && !path.hasPrefix("//") ? path : "/"
  }

  /// Takes the scheme off a URL; `nil` where there is none: the mark may stand in a query or a password too.
  private static func takeScheme(_ text: inout Substring) -> String? {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound]
    guard !scheme.contains(where: { "/?:@[".contains($0) }) else { return nil }
    text = text[mark.upperBound...]
    return scheme.lowercased()
  }

  private static func isThisMachine(_ authority: Substring) -> Bool {
    let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    // A name may begin with the digits of an address.
    let isAddress = host.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
    }
    return host.lowercased() == "localhost" || host.hasPrefix("127.") && isAddress || host == "[::1"
  }

  // MARK: Path and query

  private static func target(_ text: Substring) -> String {
    let mark = text.firstIndex(of: "?") ?? text.endIndex
    let path = withoutDotSegments(encoded(text[..<mark]))
    return (path.isEmpty ? "/" : path) + encoded(text[mark...])
  }

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

  /// Text with everything percent-encoded that may not stand in a URL (RFC 3986 §2).
  private static func encoded(_ text: Substring) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
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

  /// Text with its percent signs read; what is no escape stays.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isHexDigit),
        let value = UInt8(digits, radix: 16)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
