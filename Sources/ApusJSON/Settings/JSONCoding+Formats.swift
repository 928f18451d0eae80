#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONCoding {
  /// Returns the non-finite number that a text represents, or `nil` if the text represents no such number.
  func nonFinite(_ text: String) -> Double? {
    guard case .strings(let infinity, let negative, let nan) = nonFiniteNumbers else { return nil }
    return switch text {
    case infinity: .infinity
    case negative: -.infinity
    case nan: .nan
    default: nil
    }
  }

  /// A date outside the years 0 to 9999.
  private struct DateOutOfRange: Error {}

  /// Parses a date in a text format.
  func date(_ text: String) throws -> Date {
    if case .custom(_, let decode) = dates { try decode(text) } else { try ISO8601.date(text) }
  }

  /// Returns a date in a text format.
  func text(_ date: Date) throws -> String {
    if case .custom(let encode, _) = dates { return try encode(date) }
    var withMilliseconds = true
    if case .iso8601WholeSeconds = dates { withMilliseconds = false }
    guard let text = ISO8601.text(date, withMilliseconds: withMilliseconds) else { throw DateOutOfRange() }
    return text
  }

  /// Returns the error for a date that has no text.
  static func unencodable(_ date: Date, at path: [any CodingKey], _ error: any Error) -> EncodingError {
    let isOutOfRange = error is DateOutOfRange
    // Contains seconds instead of the date, because Foundation traps when it describes a date in the distant past or
    // future.
    return .invalidValue(
      date.timeIntervalSince1970,
      .init(
        codingPath: path,
        debugDescription: isOutOfRange ? "The date is outside of the years 0 to 9999." : "The date cannot be encoded.",
        underlyingError: isOutOfRange ? nil : error))
  }
}
