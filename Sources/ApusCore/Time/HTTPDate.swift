import ApusJSON

/// A parser for HTTP dates in the three formats that recipients must accept (RFC 9110 §5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Letters match in
/// any case (RFC 9111 §4.2).
package enum HTTPDate {
  private typealias Bytes = Substring.UTF8View

  /// Returns seconds since 1970, or `nil` if the text is not an HTTP date.
  package static func parse(_ text: String) -> Int64? {
    if text.utf8.count == 29, let date = text.utf8.withContiguousStorageIfAvailable(preferred), let seconds = date {
      return seconds
    }
    let bytes = text[...].utf8
    guard bytes.count <= 40 else { return nil }
    // More than one space is only allowed before the day of the third format: the word between is empty.
    let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    switch words.count {
    case 6 where isZone(words[5]) && isDay(words[0], longNames: false, hasComma: true):
      return seconds(year: number(words[3], digits: 4), month: words[2], day: number(words[1], digits: 2), words[4])
    case 4 where isZone(words[3]) && isDay(words[0], longNames: true, hasComma: true):
      let date = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      guard date.count == 3 else { return nil }
      // A two-digit year lies between 1970 and 2069 (RFC 9110 §5.6.7).
      let year = number(date[2], digits: 2).map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
      return seconds(year: year, month: date[1], day: number(date[0], digits: 2), words[2])
    case 5 where isDay(words[0], longNames: false, hasComma: false):
      let day = number(words[2], digits: words[2].count == 1 ? 1 : 2)
      return seconds(year: number(words[4], digits: 4), month: words[1], day: day, words[3])
    case 6 where words[2].isEmpty && isDay(words[0], longNames: false, hasComma: false):
      return seconds(year: number(words[5], digits: 4), month: words[1], day: number(words[3], digits: 1), words[4])
    default:
      return nil
    }
  }

  /// Reads the preferred format, which nearly all servers send, at its fixed positions: a cache reads a date per
  /// response. Returns `nil` for any other text.
  private static func preferred(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    func number(_ range: Range<Int>) -> Int? {
      var number = 0
      for index in range {
        guard bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") else { return nil }
        number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
      }
      return number
    }
    func word(at start: Int) -> UInt32 {
      UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
    }
    let separators = (bytes[3], bytes[4], bytes[7], bytes[11], bytes[16])
    guard separators == (0x2C, 0x20, 0x20, 0x20, 0x20), bytes[19] == 0x3A, bytes[22] == 0x3A, bytes[25] == 0x20,
      word(at: 26) == gmtWord, dayWords.contains(word(at: 0)), let month = monthWords.firstIndex(of: word(at: 8)),
      let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19), let minute = number(20..<22),
      let second = number(23..<25)
    else { return nil }
    return CivilTime.seconds(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
  }

  private static let gmtWord: UInt32 = 0x47_4D54
  private static let dayWords = days.map(word)
  private static let monthWords = months.map(word)

  /// Returns the first three letters as a number.
  private static func word(_ text: String) -> UInt32 {
    text.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

  private static func isZone(_ word: Bytes) -> Bool { matches(word, "GMT".utf8) }

  private static func isDay(_ word: Bytes, longNames: Bool, hasComma: Bool) -> Bool {
    if hasComma, word.last != UInt8(ascii: ",") { return false }
    let name = hasComma ? word.dropLast() : word
    return days.contains { matches(name, longNames ? $0.utf8[...] : $0.utf8.prefix(3)) }
  }

  private static func seconds(year: Int?, month: Bytes, day: Int?, _ time: Bytes) -> Int64? {
    let time = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { number($0, digits: 2) }
    guard let year, let day, let month = months.firstIndex(where: { matches(month, $0.utf8) }), time.count == 3,
      let hour = time[0], let minute = time[1], let second = time[2]
    else { return nil }
    return CivilTime.seconds(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
  }

  /// Whether a word has the same letters, ignoring case.
  private static func matches(_ word: Bytes, _ name: some Sequence<UInt8>) -> Bool {
    word.elementsEqual(name) { $0.asciiLowercased == $1.asciiLowercased }
  }

  private static func number(_ text: Bytes, digits: Int) -> Int? {
    guard text.count == digits, text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
    else { return nil }
    return Int(Substring(text))
  }
}
