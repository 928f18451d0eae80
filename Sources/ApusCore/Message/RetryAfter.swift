import HTTPTypes

/// Reads `Retry-After`: a number of seconds, or a date that is compared with the response's own `Date`, so
/// that a wrong clock does not matter (RFC 9110 §10.2.3, §5.6.7). Some servers add
/// `retry-after-ms`, which is more exact.
enum RetryAfter {
  /// Longer waits than this are as good as for ever (RFC 9111 §1.2.2).
  private static let longest: Int64 = 1 << 31

  private static let millisecondsName = HTTPField.Name("retry-after-ms")

  static func delay(in fields: HTTPFields) -> Duration? {
    if let name = millisecondsName, let text = fields[name], isNumber(text) {
      return .milliseconds(min(Int64(text) ?? .max, longest * 1000))
    }
    guard let text = fields[.retryAfter], !text.isEmpty else { return nil }
    if isNumber(text) { return .seconds(min(Int64(text) ?? longest, longest)) }
    guard let date = HTTPDate.parse(text), let now = fields[.date].flatMap(HTTPDate.parse) else { return nil }
    return .seconds(min(max(0, date - now), longest))
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }
}
