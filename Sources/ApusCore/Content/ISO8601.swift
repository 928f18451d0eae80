#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the dates that servers write (RFC 3339 §5.6): with and without fractions, any offset.
///
/// Strict, where Foundation ignores text behind the date and makes 1 March of 30 February.
enum ISO8601 {
  struct Malformed: Error {}

  static func date(_ text: String) throws -> Date {
    var reader = Reader(rest: text.utf8[...])
    guard let seconds = reader.instant(), reader.rest.isEmpty else { throw Malformed() }
    return Date(timeIntervalSince1970: seconds)
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

    /// Part of a second; 0 when there is none.
    private mutating func fraction() -> Double? {
      guard take(".") || take(",") else { return 0 }
      var (digits, scale, count) = (0.0, 1.0, 0)
      while let digit = digit() {
        count += 1
        // More digits than a date can hold say nothing.
        if count <= 15 { (digits, scale) = (digits * 10 + Double(digit), scale * 10) }
      }
      return count > 0 ? digits / scale : nil
    }

    /// Seconds east of Greenwich, written `Z`, `+02:00`, `+0200` or `+02`.
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
