#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONCoding {
  /// The number that is not finite for its text, or `nil` if the text is none.
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

  /// Reads a date that is written as text.
  func date(_ text: String) throws -> Date {
    if case .custom(_, let decode) = dates { try decode(text) } else { try ISO8601.date(text) }
  }

  /// Returns the text of a date that is written as text.
  func text(_ date: Date) throws -> String {
    if case .custom(let encode, _) = dates { return try encode(date) }
    var withMilliseconds = true
    if case .iso8601WholeSeconds = dates { withMilliseconds = false }
    guard let text = ISO8601.text(date, withMilliseconds: withMilliseconds) else { throw DateOutOfRange() }
    return text
  }

  /// The error for a date that has no text.
  static func unencodable(_ date: Date, at path: [any CodingKey], _ error: any Error) -> EncodingError {
    let isOutOfRange = error is DateOutOfRange
    // Seconds rather than the date, because Foundation traps when it describes a date that is too far away.
    return .invalidValue(
      date.timeIntervalSince1970,
      .init(
        codingPath: path,
        debugDescription: isOutOfRange ? "The date is outside of the years 0 to 9999." : "The date cannot be encoded.",
        underlyingError: isOutOfRange ? nil : error))
  }
}
