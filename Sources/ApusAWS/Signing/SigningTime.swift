#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The time of a signature in the syntax of requests: `20150830T123600Z`.
struct SigningTime: Sendable {
  /// The time in the basic format of ISO 8601, in UTC.
  let text: String

  /// The day: `20150830`.
  var day: String { String(text.prefix(8)) }

  /// Returns the whole seconds since 1970 of a date. Years before 0 and after 9999 are clamped.
  static func seconds(_ date: Date) -> Int64 {
    Int64(min(max(date.timeIntervalSince1970, -62_167_219_200), 253_402_300_799).rounded(.down))
  }

  /// - Parameter seconds: whole seconds since 1970, from the years 0 to 9999.
  init(seconds: Int64) {
    let (days, time) = (Self.quotient(seconds, 86_400), Int(seconds - Self.quotient(seconds, 86_400) * 86_400))
    let (year, month, day) = Self.civil(days)
    var text: [UInt8] = []
    text.reserveCapacity(16)
    Self.append(year, digits: 4, to: &text)
    Self.append(month, digits: 2, to: &text)
    Self.append(day, digits: 2, to: &text)
    text.append(UInt8(ascii: "T"))
    for part in [time / 3600, time / 60 % 60, time % 60] { Self.append(part, digits: 2, to: &text) }
    text.append(UInt8(ascii: "Z"))
    self.text = String(decoding: text, as: UTF8.self)
  }

  private static func quotient(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    dividend >= 0 ? dividend / divisor : -((-dividend + divisor - 1) / divisor)
  }

  /// Converts days since 1970 to a date of the Gregorian calendar, counted in eras of 400 years that begin on March 1.
  private static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = quotient(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (Int(year), Int(month), Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))
  }

  private static func append(_ number: Int, digits: Int, to text: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}
