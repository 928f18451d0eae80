/// What a path must not be: rules that keep a value from reaching another resource or another host.
///
/// Every call goes through them, so they look at each byte once and make nothing while all is well.
enum PathRules {
  /// What is wrong with an interpolated value, as half a sentence; `nil` when nothing is.
  static func fault(inValue value: String) -> String? {
    guard let first = value.utf8.first else { return "a path value is empty" }
    if value.utf8.contains(where: \.isControl) { return "a path value holds a control character" }
    if mayBeginDotSegment(first), isDotSegment(value[...]) { return "a path value is a dot segment" }
    return nil
  }

  /// What is wrong with a whole encoded path.
  static func fault(in path: String) -> CallFault? {
    isPlain(path) ? nil : reason(in: path).map { CallFault(.invalidRequest, $0) }
  }

  /// What is wrong with an encoded query.
  static func fault(inQuery query: String) -> CallFault? {
    PercentEncoding.hasValidEscapes(query)
      ? nil : CallFault(.invalidRequest, "the query holds a % that starts no escape")
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

  private static func reason(in path: String) -> String? {
    if path.utf8.starts(with: [slash, slash]) { return "the path names a host" }
    if isAbsolute(path) { return "the path is an absolute URL; change the client's base URL instead" }
    var isSegmentStart = true
    var hasEscapes = false
    for index in path.utf8.indices {
      let byte = path.utf8[index]
      if isSegmentStart, mayBeginDotSegment(byte) {
        let end = path.utf8[index...].firstIndex(of: slash) ?? path.endIndex
        if isDotSegment(path[index..<end]) { return "the path holds a dot segment" }
      }
      isSegmentStart = byte == slash
      hasEscapes = hasEscapes || byte == percent
    }
    return hasEscapes && !PercentEncoding.hasValidEscapes(path) ? "the path holds a % that starts no escape" : nil
  }

  /// Whether `://` stands in the first segment.
  private static func isAbsolute(_ path: String) -> Bool {
    guard let mark = path.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == slash }) else { return false }
    return path.utf8[mark...].starts(with: [UInt8(ascii: ":"), slash, slash])
  }

  /// A dot segment begins with a dot, plain or encoded: everything else needs no decoding.
  private static func mayBeginDotSegment(_ byte: UInt8) -> Bool { byte == dot || byte == percent }

  /// Whether servers or proxies may take it for `.` or `..`: plain, encoded or encoded twice and more.
  private static func isDotSegment(_ segment: Substring) -> Bool {
    var segment = String(segment)
    for _ in 0..<4 {
      if segment == "." || segment == ".." { return true }
      let decoded = PercentEncoding.decode(segment)
      if decoded == segment { return false }
      segment = decoded
    }
    // Still encoded after four rounds: nothing honest looks like that.
    return true
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
  private static let percent = UInt8(ascii: "%")
}
