import ApusCore

/// A parser for the dates of cookies (RFC 6265bis §5.1.1), in every form that browsers accept.
///
/// A date is a list of words in any order. The first word that looks like a time is the time, and so on for the day,
/// the month and the year; all other words, such as the weekday and the time zone, are ignored. Dates are in UTC.
enum CookieDate {
  /// The parts of a date that were found so far.
  private struct Parts {
    var time: (hour: Int, minute: Int, second: Int)?
    var day: Int?
    var month: Int?
    var year: Int?

    /// Reads a word as the first missing part that it can be.
    mutating func read(_ word: ArraySlice<UInt8>) {
      if time == nil, let time = CookieDate.time(word) {
        self.time = time
      } else if day == nil, let day = CookieDate.number(word, digits: 1...2) {
        self.day = day
      } else if month == nil, let month = CookieDate.month(word) {
        self.month = month
      } else if year == nil, let year = CookieDate.number(word, digits: 2...4) {
        self.year = year
      }
    }
  }

  /// Returns seconds since 1970, or `nil` if the text is not a date between the years 1601 and 9999.
  static func parse(_ text: some Collection<UInt8>) -> Int64? {
    var parts = Parts()
    for word in Array(text)[...].split(whereSeparator: isDelimiter) { parts.read(word) }
    guard let time = parts.time, let day = parts.day, let month = parts.month, let year = parts.year.map(fullYear),
      year >= 1601, time.second <= 59
    else { return nil }
    return CivilTime.seconds(
      year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
  }

  /// Completes a year of two digits: 70 to 99 mean 1970 to 1999, 0 to 69 mean 2000 to 2069.
  private static func fullYear(_ year: Int) -> Int {
    switch year {
    case 0...69: year + 2000
    case 70...99: year + 1900
    default: year
    }
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Reads a number at the start of a word. Anything but another digit may follow.
  private static func number(_ word: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
    let number = word.prefix(while: \.isDigit)
    guard digits.contains(number.count) else { return nil }
    return Int(String(decoding: number, as: UTF8.self))
  }

  /// Reads a time at the start of a word: three numbers of one or two digits, separated by colons.
  private static func time(_ word: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
    let fields = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].allSatisfy(\.isDigit), fields[1].allSatisfy(\.isDigit),
      let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
      let second = number(fields[2], digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static func month(_ word: ArraySlice<UInt8>) -> Int? {
    let start = word.prefix(3).map(\.asciiLowercased)
    return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
  }
}
