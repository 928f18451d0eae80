import ApusCore

/// The target of a `Location` field, resolved against the URL of the request (RFC 9110 §10.2.2, RFC 3986 §5).
///
/// Unambiguous characters that a URL must escape are escaped: spaces, quotation marks, bytes beyond ASCII. Text that
/// clients interpret in different ways is refused: control characters, backslashes in the path, a `%` without two
/// hexadecimal digits, user information. A fragment is not sent; messages have none to inherit.
struct LocationReference: Hashable {
  let origin: Origin
  /// The path and the query as sent.
  let target: String

  /// The maximum length in bytes.
  static let maximumLength = 16 << 10

  /// - Throws: ``RedirectRefusal``.
  init(_ bytes: some Collection<UInt8>, at base: Origin, _ baseTarget: String) throws(RedirectRefusal) {
    let text = Array(bytes).trimmed
    guard text.count <= Self.maximumLength else { throw .malformedLocation("its Location is too long") }
    guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw .malformedLocation("its Location holds a control character")
    }
    // Some transports join several fields into one.
    guard !text.contains([UInt8(ascii: ","), UInt8(ascii: " ")]) else {
      throw .malformedLocation("it has several Locations")
    }
    var rest = text.prefix { $0 != UInt8(ascii: "#") }
    var origin = base
    let scheme = try Self.takeScheme(from: &rest)
    if rest.starts(with: Self.doubleSlash) {
      origin = try Self.takeOrigin(from: &rest, scheme: scheme ?? base.scheme)
      self.origin = origin
      target = try Self.target(path: rest.path.isEmpty ? Self.slash : rest.path, query: rest.query)
      return
    }
    guard scheme == nil else { throw .malformedLocation("its Location names no host") }
    self.origin = origin
    let current = Array((baseTarget.utf8.first == UInt8(ascii: "/") ? baseTarget : "/").utf8)[...]
    guard !rest.path.isEmpty else {
      target = try Self.target(path: current.path, query: rest.query ?? current.query)
      return
    }
    let isAbsolute = rest.first == UInt8(ascii: "/")
    let folder: ArraySlice<UInt8> = isAbsolute ? [] : current.path.prefix(upToLast: UInt8(ascii: "/"))
    target = try Self.target(path: folder + rest.path, query: rest.query)
  }

  private static let doubleSlash: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "/")]
  private static let slash: ArraySlice<UInt8> = [UInt8(ascii: "/")]

  /// Removes a leading `http:` or `https:`; `nil` for a relative reference.
  private static func takeScheme(from rest: inout ArraySlice<UInt8>) throws(RedirectRefusal) -> String? {
    guard let end = rest.firstIndex(where: { "/?:".utf8.contains($0) }), rest[end] == UInt8(ascii: ":") else {
      return nil
    }
    let scheme = String(decoding: rest[..<end], as: UTF8.self).lowercased()
    guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme }
    rest = rest[(end + 1)...]
    return scheme
  }

  /// Removes a leading `//host:port`. An ambiguous host is refused.
  private static func takeOrigin(
    from rest: inout ArraySlice<UInt8>, scheme: String
  ) throws(RedirectRefusal) -> Origin {
    let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    rest = rest[authority.endIndex...]
    // A colon without a port is allowed (RFC 3986 §3.2.3).
    let written = authority.last == UInt8(ascii: ":") ? authority.dropLast() : authority
    guard let text = String(validating: written, as: UTF8.self) else {
      throw .malformedLocation("its Location cannot be used: its host is not text")
    }
    do {
      if let origin = try BaseURL("\(scheme)://\(text)").origin { return origin }
    } catch {
      throw .malformedLocation("its Location cannot be used: \(error.reason)")
    }
    throw .malformedLocation("its Location names no host")
  }

  /// The path and the query as sent.
  private static func target(
    path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?
  ) throws(RedirectRefusal) -> String {
    guard !path.contains(UInt8(ascii: "\\")) else {
      throw .malformedLocation("its Location holds a backslash")
    }
    guard path.hasValidEscapes, query?.hasValidEscapes ?? true else {
      throw .malformedLocation("its Location holds a % that starts no escape")
    }
    let path = ReferencePath.withoutDotSegments(path).escaped(keepingQuestionMarks: false)
    let query = query.map { "?" + $0.escaped(keepingQuestionMarks: true) } ?? ""
    return path + query
  }
}

extension ArraySlice<UInt8> {
  /// The part before the query.
  fileprivate var path: ArraySlice { prefix { $0 != UInt8(ascii: "?") } }

  /// The part after the first question mark; `nil`: there is none.
  fileprivate var query: ArraySlice? {
    firstIndex(of: UInt8(ascii: "?")).map { self[($0 + 1)...] }
  }

  /// The part up to and including the last occurrence of a byte.
  fileprivate func prefix(upToLast byte: UInt8) -> ArraySlice {
    lastIndex(of: byte).map { self[...$0] } ?? [UInt8(ascii: "/")]
  }
}

extension [UInt8] {
  /// The bytes without leading and trailing spaces and tabs.
  fileprivate var trimmed: ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return []
    }
    return self[first...last]
  }
}

/// The normalisation of a path from a `Location` field.
enum ReferencePath {
  private static let dot = UInt8(ascii: ".")
  private static let slash = UInt8(ascii: "/")

  /// Removes `.` and `..` segments (RFC 3986 §5.2.4), also with escaped dots: some servers, proxies and transports
  /// decode the dots and would use another path.
  static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard path.contains(where: { $0 == dot || $0 == UInt8(ascii: "%") }) else { return path }
    var kept: [ArraySlice<UInt8>] = []
    var segments = path.split(separator: slash, omittingEmptySubsequences: false)[...]
    if path.first == slash { segments = segments.dropFirst() }
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch dots(in: segment) {
      case 1: if isLast { kept.append([]) }
      case 2:
        _ = kept.popLast()
        if isLast { kept.append([]) }
      default: kept.append(segment)
      }
    }
    return [slash] + kept.joined(separator: [slash])
  }

  /// The number of dots of a segment that consists of one or two dots; `nil` for any other segment.
  private static func dots(in segment: ArraySlice<UInt8>) -> Int? {
    guard segment.count <= 6 else { return nil }
    var (rest, count) = (segment, 0)
    while !rest.isEmpty {
      if rest.first == dot {
        rest = rest.dropFirst()
      } else if rest.starts(with: Array("%2e".utf8)) || rest.starts(with: Array("%2E".utf8)) {
        rest = rest.dropFirst(3)
      } else {
        return nil
      }
      count += 1
    }
    return (1...2).contains(count) ? count : nil
  }
}

extension ArraySlice<UInt8> {
  /// Whether every `%` is followed by two hexadecimal digits.
  var hasValidEscapes: Bool {
    indices.allSatisfy { index in
      guard self[index] == UInt8(ascii: "%") else { return true }
      return self[(index + 1)...].prefix(2).count { $0.hexValue != nil } == 2
    }
  }

  /// Escapes everything that a path or query cannot contain (RFC 3986 §3.3, §3.4). Existing escapes stay.
  func escaped(keepingQuestionMarks: Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for byte in self {
      if Self.isPathText(byte) || (keepingQuestionMarks && byte == UInt8(ascii: "?")) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isPathText(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@/%".utf8.contains(byte)
    }
  }
}
