/// Dates as HTTP writes them, in the three forms that must be understood (RFC 9110 §5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
enum HTTPDate {
  /// Seconds since 1970; `nil` when the text is no such date.
  static func parse(_ text: String) -> Int64? {
    guard text.utf8.count <= 40 else { return nil }
    let words = text.split(separator: " ")
    switch words.count {
    case 6 where words[5] == "GMT" && isDay(words[0].dropLast(), longNames: false) && words[0].hasSuffix(","):
      return seconds(year: number(words[3], digits: 4), month: words[2], day: number(words[1], digits: 2), words[4])
    case 4 where words[3] == "GMT" && isDay(words[0].dropLast(), longNames: true) && words[0].hasSuffix(","):
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3 else { return nil }
      // Two digits stand for a year near the present (RFC 9110 §5.6.7).
      let year = number(date[2], digits: 2).map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
      return seconds(year: year, month: date[1], day: number(date[0], digits: 2), words[2])
    case 5 where isDay(words[0], longNames: false):
      let day = number(words[2], digits: words[2].utf8.count == 1 ? 1 : 2)
      return seconds(year: number(words[4], digits: 4), month: words[1], day: day, words[3])
    default:
      return nil
    }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

  private static func isDay(_ text: Substring, longNames: Bool) -> Bool {
    days.contains { longNames ? $0 == text : $0.prefix(3) == text }
  }

  private static func seconds(year: Int?, month: Substring, day: Int?, _ time: Substring) -> Int64? {
    let time = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
    guard let year, let day, let month = months.firstIndex(of: String(month)), time.count == 3, let hour = time[0],
      let minute = time[1], let second = time[2]
    else { return nil }
    return CivilTime.seconds(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
    else { return nil }
    return Int(text)
  }
}
