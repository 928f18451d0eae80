/// What a path must not be: rules that keep a value from reaching another resource or another host.
///
/// Every call goes through them, so they look at each byte once and make nothing while all is well.
enum PathRules {
  /// What is wrong with an interpolated value, as half a sentence; `nil` when nothing is.
  static func reason(inValue value: String) -> String? {
    guard !value.isEmpty else { return "a path value is empty" }
    if value.utf8.contains(where: \.isControl) { return "a path value holds a control character" }
    switch dotSegment(in: value[...]) {
    case .whole: return "a path value is a dot segment"
    case .part: return "a path value holds a dot segment"
    case nil: return nil
    }
  }

  /// What is wrong with a whole encoded path.
  static func reason(inPath path: String) -> String? {
    isPlain(path) ? nil : reason(inUnusualPath: path)
  }

  /// What is wrong with an encoded query.
  static func reason(inQuery query: String) -> String? {
    PercentEncoding.hasValidEscapes(query) ? nil : "the query holds a % that starts no escape"
  }

  /// Whether a path can be sent as it is: nothing to encode, to split off or to look at more closely.
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
    if path.utf8.starts(with: [slash, slash]) { return "the path names a host" }
    if isAbsolute(path) { return "the path is an absolute URL; change the client's base URL instead" }
    for segment in path.utf8.split(separator: slash) where dotSegment(in: Substring(segment)) != nil {
      return "the path holds a dot segment"
    }
    return PercentEncoding.hasValidEscapes(path) ? nil : "the path holds a % that starts no escape"
  }

  /// Whether `://` stands in the first segment.
  private static func isAbsolute(_ path: String) -> Bool {
    guard let mark = path.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == slash }) else { return false }
    return path.utf8[mark...].starts(with: [UInt8(ascii: ":"), slash, slash])
  }

  /// What of a text is a dot segment.
  private enum DotSegment {
    case whole, part
  }

  /// Where servers or proxies may find `.` or `..` in a segment: plain, encoded or encoded twice and more, by itself or
  /// beside slashes and backslashes.
  ///
  /// Some decode a path before they take its dot segments out: to them `..%2Fx` is another resource. Some cut off what
  /// stands behind a semicolon before they do.
  private static func dotSegment(in segment: Substring) -> DotSegment? {
    if !segment.utf8.contains(percent) { return plainDotSegment(in: segment.utf8) }
    var segment = String(segment)
    for _ in 0..<4 {
      if let found = plainDotSegment(in: segment[...].utf8) { return found }
      let decoded = PercentEncoding.decode(segment)
      if decoded.utf8.elementsEqual(segment.utf8) { return nil }
      segment = decoded
    }
    // Still encoded after four rounds: nothing honest looks like that.
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
