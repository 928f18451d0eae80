#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Conversion of Gregorian dates in UTC to seconds since 1970.
enum CivilTime {
  /// Returns seconds since 1970, or `nil` for an invalid date or time. A leap second counts as the first second of the
  /// next minute.
  static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int64? {
    guard (1...12).contains(month), day >= 1, day <= days(in: month, of: year), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return Int64(((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Years begin in March here, so that the leap day is the last day of its year.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    // Rounded down, also for negative years.
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// A parser for HTTP dates in the three formats that recipients must accept (RFC 9110 §5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
package enum HTTPDate {
  private typealias Bytes = Substring.UTF8View

  /// Returns seconds since 1970, or `nil` if the text is not an HTTP date.
  package static func parse(_ text: String) -> Int64? {
    let bytes = text[...].utf8
    guard bytes.count <= 40 else { return nil }
    let words = bytes.split(separator: UInt8(ascii: " "))
    switch words.count {
    case 6 where isZone(words[5]) && isDay(words[0], longNames: false, hasComma: true):
      return seconds(year: number(words[3], digits: 4), month: words[2], day: number(words[1], digits: 2), words[4])
    case 4 where isZone(words[3]) && isDay(words[0], longNames: true, hasComma: true):
      let date = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      guard date.count == 3 else { return nil }
      // A year of two digits is near the present (RFC 9110 §5.6.7).
      let year = number(date[2], digits: 2).map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
      return seconds(year: year, month: date[1], day: number(date[0], digits: 2), words[2])
    case 5 where isDay(words[0], longNames: false, hasComma: false):
      let day = number(words[2], digits: words[2].count == 1 ? 1 : 2)
      return seconds(year: number(words[4], digits: 4), month: words[1], day: day, words[3])
    default:
      return nil
    }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

  private static func isZone(_ word: Bytes) -> Bool { word.elementsEqual("GMT".utf8) }

  private static func isDay(_ word: Bytes, longNames: Bool, hasComma: Bool) -> Bool {
    if hasComma, word.last != UInt8(ascii: ",") { return false }
    let name = hasComma ? word.dropLast() : word
    return days.contains { name.elementsEqual(longNames ? $0.utf8[...] : $0.utf8.prefix(3)) }
  }

  private static func seconds(year: Int?, month: Bytes, day: Int?, _ time: Bytes) -> Int64? {
    let time = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { number($0, digits: 2) }
    guard let year, let day, let month = months.firstIndex(where: { month.elementsEqual($0.utf8) }), time.count == 3,
      let hour = time[0], let minute = time[1], let second = time[2]
    else { return nil }
    return CivilTime.seconds(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
  }

  private static func number(_ text: Bytes, digits: Int) -> Int? {
    guard text.count == digits, text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
    else { return nil }
    return Int(Substring(text))
  }
}

/// A parser and formatter for internet dates (RFC 3339 §5.6).
///
/// The parser accepts fractional seconds and any offset. It is strict, whereas Foundation ignores text after the date
/// and reads 30 February as a day in March.
enum ISO8601 {
  struct Malformed: Error {}

  static func date(_ text: String) throws -> Date {
    var reader = Reader(rest: text.utf8[...])
    guard let seconds = reader.instant(), reader.rest.isEmpty else { throw Malformed() }
    return Date(timeIntervalSince1970: seconds)
  }

  /// Returns a date in UTC, or `nil` for a date outside the years 0 to 9999.
  ///
  /// - Parameter withMilliseconds: whether to round to milliseconds, written unless they are zero. Otherwise the time
  ///   is rounded down to the second.
  static func text(_ date: Date, withMilliseconds: Bool) -> String? {
    let time = date.timeIntervalSince1970 * 1000
    // 0000-01-01 to 9999-12-31.
    guard time >= -62_167_219_200_000, time < 253_402_300_800_000 else { return nil }
    let milliseconds = min(Int64(time.rounded(withMilliseconds ? .toNearestOrEven : .down)), 253_402_300_799_999)
    let (seconds, fraction) = divided(milliseconds, by: 1000)
    let (days, second) = divided(seconds, by: 86_400)
    let (year, month, day) = civil(days)
    let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    let clock = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
    return date + "T" + clock + (withMilliseconds && fraction > 0 ? ".\(digits(fraction, 3))Z" : "Z")
  }

  /// Rounded down, also for times before 1970.
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

    /// Reads the fraction of a second. 0 if there is none.
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
