/// The rules for paths. They prevent a value from selecting another resource or another host.
///
/// Every call applies them, so they read each byte once and do not allocate for valid paths.
enum PathRules {
  /// Returns the reason why an interpolated value is invalid, or `nil` if it is valid.
  static func reason(inValue value: String) -> String? {
    guard !value.isEmpty else { return "a path value is empty" }
    if value.utf8.contains(where: \.isControl) { return "a path value contains a control character" }
    switch dotSegment(in: value[...]) {
    case .whole: return "a path value is a dot segment"
    case .part: return "a path value contains a dot segment"
    case nil: return nil
    }
  }

  /// Returns the reason why a complete encoded path is invalid, or `nil` if it is valid.
  static func reason(inPath path: String) -> String? {
    isPlain(path) ? nil : reason(inUnusualPath: path)
  }

  /// Returns the reason why an encoded query is invalid, or `nil` if it is valid.
  static func reason(inQuery query: String) -> String? {
    PercentEncoding.hasValidEscapes(query) ? nil : "the query contains an invalid percent-encoding"
  }

  /// Whether a path needs no encoding, has no query and needs no further checks.
  static func isPlain(_ path: String) -> Bool {
    let allowed = ByteSet.plainPathText
    var previous: UInt8 = 0
    var isFirst = true
    for byte in path.utf8 {
      guard allowed.contains(byte) else { return false }
      if previous == slash, byte == dot || (byte == slash && isFirst) { return false }
      isFirst = previous == 0
      previous = byte
    }
    return path.utf8.first != dot
  }

  private static func reason(inUnusualPath path: String) -> String? {
    if path.utf8.starts(with: [slash, slash]) { return "the path starts with a host" }
    if isAbsolute(path) { return "the path is an absolute URL; use .url(_:) for a URL" }
    for segment in path.utf8.split(separator: slash) where dotSegment(in: Substring(segment)) != nil {
      return "the path contains a dot segment"
    }
    return PercentEncoding.hasValidEscapes(path) ? nil : "the path contains an invalid percent-encoding"
  }

  /// Whether the first segment contains `://`.
  private static func isAbsolute(_ path: String) -> Bool {
    guard let mark = path.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == slash }) else { return false }
    return path.utf8[mark...].starts(with: [UInt8(ascii: ":"), slash, slash])
  }

  /// The extent of a dot segment: the whole text or a part of it.
  private enum DotSegment {
    case whole, part
  }

  /// Returns the extent of a `.` or `..` that servers or proxies may find in a segment: plain, encoded once or
  /// several times, alone or next to slashes and backslashes. Returns `nil` if there is none.
  ///
  /// Some servers decode a path before they remove dot segments, so that `..%2Fx` selects another resource. Some
  /// servers first remove the parameters after a semicolon.
  private static func dotSegment(in segment: Substring) -> DotSegment? {
    if !segment.utf8.contains(percent) { return plainDotSegment(in: segment.utf8) }
    var segment = String(segment)
    for _ in 0..<4 {
      if let found = plainDotSegment(in: segment[...].utf8) { return found }
      let decoded = PercentEncoding.decode(segment)
      if decoded.utf8.elementsEqual(segment.utf8) { return nil }
      segment = decoded
    }
    // No legitimate value is still encoded after four rounds.
    return .whole
  }

  private static func plainDotSegment(in text: Substring.UTF8View) -> DotSegment? {
    var (dots, isOther, isParameter, isPart) = (0, false, false, false)
    for byte in text {
      switch byte {
      case slash, UInt8(ascii: "\\"):
        if !isOther, 1...2 ~= dots { return .part }
        (dots, isOther, isParameter, isPart) = (0, false, false, true)
      case UInt8(ascii: ";"): (isParameter, isPart) = (true, true)
      case dot where !isParameter: dots += 1
      default: isOther = isOther || !isParameter
      }
    }
    return !isOther && 1...2 ~= dots ? (isPart ? .part : .whole) : nil
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
  private static let percent = UInt8(ascii: "%")
}
