@_exported public import ApusJSON

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How Swift values and JSON become each other: keys, dates, data.
///
/// One value can be set for a client, an endpoint or a single call; the nearest one counts. The coders are
/// made once, when this value is made.
public struct JSONCoding: Sendable {
  /// How property names become JSON keys.
  public enum Keys: Sendable, Hashable {
    /// As they are.
    case asWritten
    /// `releaseDate` is `release_date`.
    case snakeCase
  }

  /// How dates are written.
  public enum Dates: Sendable {
    /// ISO 8601 with or without fractions of a second, any offset; written in UTC, with milliseconds if they are not zero.
    /// Dates outside of the years 0 to 9999 cannot be encoded.
    case iso8601
    /// As ``iso8601``, but always written without fractions, for servers that cannot read them: cut to the second.
    case iso8601WholeSeconds
    /// A number of seconds since 1970.
    case secondsSince1970
    /// A number of milliseconds since 1970.
    case millisecondsSince1970
    /// A text; the two functions make it and read it.
    case custom(encode: @Sendable (Date) throws -> String, decode: @Sendable (String) throws -> Date)
  }

  /// How bytes are written.
  public enum Bytes: Sendable, Hashable {
    /// A Base64 text.
    case base64
    /// An array of numbers.
    case numbers
  }

  /// Keys.
  public let keys: Keys
  /// Dates.
  public let dates: Dates
  /// Bytes.
  public let bytes: Bytes

  let encoder: JSONEncoder
  let decoder: JSONDecoder

  /// Makes a coding and its coders.
  ///
  /// - Parameters:
  ///   - keys: default as written.
  ///   - dates: default ISO 8601.
  ///   - bytes: default Base64.
  public init(keys: Keys = .asWritten, dates: Dates = .iso8601, bytes: Bytes = .base64) {
    self.keys = keys
    self.dates = dates
    self.bytes = bytes
    encoder = Self.encoder(keys, dates, bytes)
    decoder = Self.decoder(keys, dates, bytes)
  }

  /// Keys as written, ISO 8601 dates, Base64 bytes.
  public static let standard = JSONCoding()
  /// Like ``standard``, with keys in snake case.
  public static let snakeCase = JSONCoding(keys: .snakeCase)

  private static func encoder(_ keys: Keys, _ dates: Dates, _ bytes: Bytes) -> JSONEncoder {
    let encoder = JSONEncoder()
    // Sorted, so that the same value gives the same bytes: for joined calls, signatures and recordings.
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    if keys == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
    switch dates {
    case .iso8601: encoder.dateEncodingStrategy = .custom { try encode($0, withMilliseconds: true, to: $1) }
    case .iso8601WholeSeconds:
      encoder.dateEncodingStrategy = .custom { try encode($0, withMilliseconds: false, to: $1) }
    case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
    case .millisecondsSince1970: encoder.dateEncodingStrategy = .millisecondsSince1970
    case .custom(let encode, _):
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(encode(date))
      }
    }
    encoder.dataEncodingStrategy = bytes == .base64 ? .base64 : .deferredToData
    return encoder
  }

  private static func encode(_ date: Date, withMilliseconds: Bool, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let text = ISO8601.text(date, withMilliseconds: withMilliseconds) else {
      // Not the date: Foundation traps where it describes one that is too far away.
      throw EncodingError.invalidValue(
        date.timeIntervalSince1970,
        .init(codingPath: encoder.codingPath, debugDescription: "The date is outside of the years 0 to 9999."))
    }
    try container.encode(text)
  }

  private static func decoder(_ keys: Keys, _ dates: Dates, _ bytes: Bytes) -> JSONDecoder {
    let decoder = JSONDecoder()
    if keys == .snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    switch dates {
    case .iso8601, .iso8601WholeSeconds:
      decoder.dateDecodingStrategy = .custom { try date(from: $0, reading: ISO8601.date) }
    case .secondsSince1970: decoder.dateDecodingStrategy = .secondsSince1970
    case .millisecondsSince1970: decoder.dateDecodingStrategy = .millisecondsSince1970
    case .custom(_, let decode): decoder.dateDecodingStrategy = .custom { try date(from: $0, reading: decode) }
    }
    decoder.dataDecodingStrategy = bytes == .base64 ? .base64 : .deferredToData
    return decoder
  }

  private static func date(from decoder: any Decoder, reading: (String) throws -> Date) throws -> Date {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      return try reading(text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "The text is not a date.", underlyingError: error))
    }
  }
}

// JSON values are part of this module's API, so that who imports it, or the umbrella, sees them.
