// Exported, so that importing this module or the umbrella makes `JSONValue` available.
@_exported public import ApusJSON

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The JSON representation of Swift values: the formats of keys, dates and bytes.
///
/// A coding can be set for a client, an endpoint or a call. The encoder and decoder are created once, with this
/// value.
public struct JSONCoding: Sendable {
  /// The mapping of property names to JSON keys.
  public enum Keys: Sendable, Hashable {
    /// The key equals the property name.
    case unchanged
    /// `releaseDate` becomes `release_date`.
    case snakeCase
  }

  /// The format of dates.
  public enum Dates: Sendable {
    /// ISO 8601. Decodes any offset, with or without fractional seconds. Encodes UTC, with milliseconds unless they are
    /// zero. Dates outside the years 0 to 9999 cannot be encoded.
    case iso8601
    /// ISO 8601 like ``iso8601``, but encoded without fractional seconds (rounded down), for servers that cannot parse
    /// them.
    case iso8601WholeSeconds
    /// A number of seconds since 1970.
    case secondsSince1970
    /// A number of milliseconds since 1970.
    case millisecondsSince1970
    /// A string, encoded and decoded by two functions.
    case custom(encode: @Sendable (Date) throws -> String, decode: @Sendable (String) throws -> Date)
  }

  /// The format of `Data`.
  public enum Bytes: Sendable, Hashable {
    /// A Base64 string.
    case base64
    /// An array of numbers.
    case numbers
  }

  let keys: Keys
  let dates: Dates
  let bytes: Bytes
  let encoder: JSONEncoder
  let decoder: JSONDecoder

  /// Creates a coding with its encoder and decoder.
  ///
  /// - Parameters:
  ///   - keys: the mapping of property names to keys. Default: ``Keys/unchanged``.
  ///   - dates: the format of dates. Default: ``Dates/iso8601``.
  ///   - bytes: the format of `Data`. Default: ``Bytes/base64``.
  public init(keys: Keys = .unchanged, dates: Dates = .iso8601, bytes: Bytes = .base64) {
    self.keys = keys
    self.dates = dates
    self.bytes = bytes
    encoder = Self.encoder(keys, dates, bytes)
    decoder = Self.decoder(keys, dates, bytes)
  }

  /// The default coding: keys as written, ISO 8601 dates and Base64 bytes.
  public static let `default` = JSONCoding()
  /// The default coding with keys in snake case.
  public static let snakeCase = JSONCoding(keys: .snakeCase)

  private static func encoder(_ keys: Keys, _ dates: Dates, _ bytes: Bytes) -> JSONEncoder {
    let encoder = JSONEncoder()
    // Sorted, so that equal values give equal bytes, for coalescing, signatures and recordings.
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
      // Seconds rather than the date, because Foundation traps when it describes a date that is too far away.
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
