#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A parser and formatter for internet dates (RFC 3339 §5.6).
///
/// The parser accepts fractional seconds and any offset. It is strict, whereas Foundation ignores text after the date
/// and reads 30 February as a day in March.
package enum ISO8601 {
  package struct Malformed: Error {}

  package static func date(_ text: String) throws -> Date {
    var reader = Reader(rest: text.utf8[...])
    guard let seconds = reader.instant(), reader.rest.isEmpty else { throw Malformed() }
    return Date(timeIntervalSince1970: seconds)
  }

  /// Returns a date in UTC, or `nil` for a date outside the years 0 to 9999.
  ///
  /// - Parameter withMilliseconds: whether the time is rounded to milliseconds, which are omitted if they are zero. If
  ///   `false`, the time is rounded down to the second.
  package static func text(_ date: Date, withMilliseconds: Bool) -> String? {
    let time = date.timeIntervalSince1970 * 1000
    // The range 0000-01-01 to 9999-12-31.
    guard time >= -62_167_219_200_000, time < 253_402_300_800_000 else { return nil }
    let milliseconds = min(Int64(time.rounded(withMilliseconds ? .toNearestOrEven : .down)), 253_402_300_799_999)
    let (seconds, fraction) = divided(milliseconds, by: 1000)
    let (days, second) = divided(seconds, by: 86_400)
    let (year, month, day) = civil(days)
    let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    let clock = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
    return date + "T" + clock + (withMilliseconds && fraction > 0 ? ".\(digits(fraction, 3))Z" : "Z")
  }

  /// Divides with a quotient that is rounded down, also for times before 1970.
  private static func divided(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// Returns the date of a day since 1970: the inverse of ``CivilTime``, with years that begin in March.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, day) = divided(days + 719_468, by: 146_097)
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let isAfterNewYear = month >= 10
    return (
      era * 400 + year + (isAfterNewYear ? 1 : 0), isAfterNewYear ? month - 9 : month + 3,
      dayOfYear - (153 * month + 2) / 5 + 1
    )
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }

  private struct Reader {
    var rest: Substring.UTF8View

    mutating func instant() -> Double? {
      guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
        take("T") || take("t"), let hour = number(2), take(":"), let minute = number(2), take(":"),
        let second = number(2), let fraction = fraction(), let offset = offset(),
        let whole = CivilTime.seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
      else { return nil }
      return Double(whole - offset) + fraction
    }

    /// Reads the fraction of a second. Returns 0 if there is none.
    private mutating func fraction() -> Double? {
      guard take(".") || take(",") else { return 0 }
      var (digits, scale, count) = (0.0, 1.0, 0)
      while let digit = digit() {
        count += 1
        // Further digits exceed the precision of a date.
        if count <= 15 { (digits, scale) = (digits * 10 + Double(digit), scale * 10) }
      }
      return count > 0 ? digits / scale : nil
    }

    /// Reads the offset in seconds, written `Z`, `+02:00`, `+0200` or `+02`.
    private mutating func offset() -> Int64? {
      if take("Z") || take("z") { return 0 }
      let isWest = take("-")
      guard isWest || take("+"), let hours = number(2), hours < 24 else { return nil }
      var minutes = 0
      if take(":") || !rest.isEmpty {
        guard let number = number(2), number < 60 else { return nil }
        minutes = number
      }
      return Int64((isWest ? -1 : 1) * (hours * 3600 + minutes * 60))
    }

    private mutating func number(_ count: Int) -> Int? {
      var result = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        result = result * 10 + digit
      }
      return result
    }

    private mutating func digit() -> Int? {
      guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      rest.removeFirst()
      return Int(byte - UInt8(ascii: "0"))
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }
  }
}
