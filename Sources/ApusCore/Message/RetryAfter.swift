import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads `Retry-After`: a number of seconds, or a date that is compared with the response's own `Date`, so
/// that a wrong clock does not matter (RFC 9110 §10.2.3, §5.6.7).
enum RetryAfter {
  static func delay(in fields: HTTPFields) -> Duration? {
    guard let text = fields[.retryAfter] else { return nil }
    if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 1 << 31)) }
    guard let date = HTTPDate.parse(text), let now = fields[.date].flatMap(HTTPDate.parse) else { return nil }
    return .seconds(max(0, date - now))
  }
}

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970; `nil` when the text is not a date in the preferred form.
  static func parse(_ text: String) -> Int64? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" })
    guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])),
      let day = Int(parts[1]), let year = Int(parts[3]), let hour = Int(parts[4]), let minute = Int(parts[5]),
      let second = Int(parts[6]), (1...31).contains(day), (1600...9999).contains(year), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    let days = daysSince1970(year: year, month: month + 1, day: day)
    return Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
  }

  /// Days of the Gregorian calendar, counted with years that begin in March.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
