package import HTTPTypes

/// A URL that is known only at run time, resolved against another URL (RFC 3986 §5): the `Location` of a redirect, a
/// link in a response, an address that a user typed.
///
/// Unambiguous characters that a URL must escape are escaped: spaces, quotation marks, bytes beyond ASCII. Text that
/// clients interpret in different ways is refused: control characters, backslashes in the path, a `%` without two
/// hexadecimal digits, user information. A fragment is not sent (RFC 9110 §7.1).
package struct URLReference: Hashable, Sendable {
  /// The reason why a text is not a usable URL.
  package struct Fault: Error, Hashable {
    /// A clause without its subject, for example `is too long`. Contains no part of the text.
    package let reason: String

    /// The scheme is neither http nor https.
    package static let unsupportedScheme = Fault(reason: "has a scheme other than http and https")
    /// The text is relative, and there is no URL to resolve it against.
    package static let relative = Fault(reason: "is relative")
    /// A response has several fields that name different URLs.
    package static let several = Fault(reason: "is one of several")
  }

  package let origin: Origin
  /// The path and the query as sent.
  package let target: String

  /// The maximum length in bytes.
  package static let maximumLength = 16 << 10

  /// - Parameters:
  ///   - text: a URL, or a reference relative to `base`.
  ///   - base: the origin, path and query of the URL to which `text` is relative; `nil`: only a complete URL is valid.
  package init(
    _ text: some Collection<UInt8>, relativeTo base: (origin: Origin, target: String)?
  ) throws(URLReference.Fault) {
    guard text.count <= Self.maximumLength else { throw Fault(reason: "is too long") }
    guard !text.contains(where: \.isControl) else { throw Fault(reason: "contains a control character") }
    var rest = Array(text)[...].prefix { $0 != UInt8(ascii: "#") }
    let scheme = try Self.takeScheme(from: &rest)
    if rest.starts(with: Self.doubleSlash), let scheme = scheme ?? base?.origin.scheme {
      origin = try Self.takeOrigin(from: &rest, scheme: scheme)
      target = try Self.target(path: rest.path.isEmpty ? Self.slash : rest.path, query: rest.query)
      return
    }
    guard scheme == nil else { throw Fault(reason: "has no host") }
    guard let base else { throw Fault.relative }
    origin = base.origin
    let current = Array((base.target.utf8.first == UInt8(ascii: "/") ? base.target : "/").utf8)[...]
    guard !rest.path.isEmpty else {
      target = try Self.target(path: current.path, query: rest.query ?? current.query)
      return
    }
    let isAbsolute = rest.first == UInt8(ascii: "/")
    let folder: ArraySlice<UInt8> = isAbsolute ? [] : current.path.prefix(upToLast: UInt8(ascii: "/"))
    target = try Self.target(path: folder + rest.path, query: rest.query)
  }

  /// Returns the URL of the field `Location` (RFC 9110 §10.2.2), or `nil` if it is missing or empty.
  ///
  /// A value may contain commas, so it is never split. Several fields must name the same URL.
  package static func location(
    in fields: HTTPFields, relativeTo base: (origin: Origin, target: String)?
  ) throws(URLReference.Fault) -> URLReference? {
    var found: URLReference?
    for field in fields[fields: .location] {
      let text = field.withUnsafeBytesOfValue { Array($0) }.trimmed
      guard !text.isEmpty else { continue }
      let location = try URLReference(text, relativeTo: base)
      guard found == nil || found == location else { throw Fault.several }
      found = location
    }
    return found
  }

  private static let doubleSlash: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "/")]
  private static let slash: ArraySlice<UInt8> = [UInt8(ascii: "/")]

  /// Removes a leading `http:` or `https:` and returns the scheme. Returns `nil` for a relative reference.
  private static func takeScheme(from rest: inout ArraySlice<UInt8>) throws(URLReference.Fault) -> String? {
    guard let end = rest.firstIndex(where: { "/?:".utf8.contains($0) }), rest[end] == UInt8(ascii: ":") else {
      return nil
    }
    let scheme = String(decoding: rest[..<end], as: UTF8.self).lowercased()
    guard scheme == "http" || scheme == "https" else { throw Fault.unsupportedScheme }
    rest = rest[(end + 1)...]
    return scheme
  }

  /// Removes a leading `//host:port`. An ambiguous host is refused.
  private static func takeOrigin(
    from rest: inout ArraySlice<UInt8>, scheme: String
  ) throws(URLReference.Fault) -> Origin {
    let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    rest = rest[authority.endIndex...]
    // A colon without a port is allowed (RFC 3986 §3.2.3).
    let written = authority.last == UInt8(ascii: ":") ? authority.dropLast() : authority
    guard let text = String(validating: written, as: UTF8.self) else {
      throw Fault(reason: "cannot be used: its host is not text")
    }
    do {
      if let origin = try BaseURL("\(scheme)://\(text)").origin { return origin }
    } catch {
      throw Fault(reason: "cannot be used: \(error.reason)")
    }
    throw Fault(reason: "has no host")
  }

  /// Returns the path and the query as sent.
  private static func target(
    path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?
  ) throws(URLReference.Fault) -> String {
    guard !path.contains(UInt8(ascii: "\\")) else {
      throw Fault(reason: "contains a backslash")
    }
    guard path.hasValidEscapes, query?.hasValidEscapes ?? true else {
      throw Fault(reason: "contains a % that starts no escape")
    }
    let path = ReferencePath.withoutDotSegments(path).escaped(keepingQuestionMarks: false)
    let query = query.map { "?" + $0.escaped(keepingQuestionMarks: true) } ?? ""
    return path + query
  }
}

extension ArraySlice<UInt8> {
  /// The part before the query.
  fileprivate var path: ArraySlice { prefix { $0 != UInt8(ascii: "?") } }

  /// The part after the first question mark, or `nil` if there is none.
  fileprivate var query: ArraySlice? {
    firstIndex(of: UInt8(ascii: "?")).map { self[($0 + 1)...] }
  }

  /// Returns the part up to and including the last occurrence of a byte.
  fileprivate func prefix(upToLast byte: UInt8) -> ArraySlice {
    lastIndex(of: byte).map { self[...$0] } ?? [UInt8(ascii: "/")]
  }
}

/// The normalization of a path.
private enum ReferencePath {
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

  /// Returns the number of dots of a segment that consists of one or two dots; `nil` for any other segment.
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
  fileprivate var hasValidEscapes: Bool {
    indices.allSatisfy { index in
      guard self[index] == UInt8(ascii: "%") else { return true }
      return self[(index + 1)...].prefix(2).count { PercentEncoding.hexValue($0) != nil } == 2
    }
  }

  /// Escapes everything that a path or query cannot contain (RFC 3986 §3.3, §3.4). Existing escapes stay.
  fileprivate func escaped(keepingQuestionMarks: Bool) -> String {
    let kept = ByteSet.pathText
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for byte in self {
      if kept.contains(byte) || (keepingQuestionMarks && byte == UInt8(ascii: "?")) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
