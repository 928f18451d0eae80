/// What a path must not be: rules that keep a value from reaching another resource or another host.
enum PathRules {
  /// What is wrong with an interpolated value, as half a sentence; `nil` when nothing is.
  static func fault(inValue value: String) -> String? {
    if value.isEmpty { return "a path value is empty" }
    if value.utf8.contains(where: \.isControl) { return "a path value holds a control character" }
    if isDotSegment(value) { return "a path value is a dot segment" }
    return nil
  }

  /// What is wrong with a whole encoded path.
  static func fault(in path: String) -> CallFault? {
    if path.hasPrefix("//") { return CallFault(.invalidRequest, "the path names a host") }
    if let colon = path.firstIndex(of: ":"), path[colon...].hasPrefix("://"), !path[..<colon].contains("/") {
      return CallFault(.invalidRequest, "the path is an absolute URL; change the client's base URL instead")
    }
    guard path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return nil }
    for segment in path.split(separator: "/") where isDotSegment(String(segment)) {
      return CallFault(.invalidRequest, "the path holds a dot segment")
    }
    if !hasValidEscapes(path) { return CallFault(.invalidRequest, "the path holds a % that starts no escape") }
    return nil
  }

  /// Whether servers or proxies may take it for `.` or `..`: plain, encoded or encoded twice and more.
  private static func isDotSegment(_ segment: String) -> Bool {
    var segment = segment
    for _ in 0..<4 {
      if segment == "." || segment == ".." { return true }
      let decoded = PercentEncoding.decode(segment)
      if decoded == segment { return false }
      segment = decoded
    }
    // Still encoded after four rounds: nothing honest looks like that.
    return true
  }

  private static func hasValidEscapes(_ path: String) -> Bool {
    var rest = Array(path.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else { continue }
      guard PercentEncoding.hexValue(rest.first) != nil, PercentEncoding.hexValue(rest.dropFirst().first) != nil else {
        return false
      }
      rest = rest.dropFirst(2)
    }
    return true
  }
}
