#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The JSON representation of Swift values, and the coder for it.
///
/// ```swift
/// let coding = JSONCoding(keys: .snakeCase)
/// let data = try coding.encode(["releaseYear": 1999])
/// let years = try coding.decode([String: Int].self, from: data)
/// ```
///
/// A coding can be set for a client, an endpoint or a call. It decodes and encodes the same types as Foundation's
/// `JSONDecoder` and `JSONEncoder`, and is faster in optimized builds.
public struct JSONCoding: Sendable {
  /// The mapping of property names to JSON keys.
  public enum Keys: Sendable, Hashable {
    /// The key equals the property name.
    case unchanged
    /// `releaseDate` becomes `release_date`. Keys of dictionaries are unchanged.
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

  /// The format of numbers that JSON does not have: infinity and NaN.
  public enum NonFiniteNumbers: Sendable, Hashable {
    /// Infinity and NaN are errors.
    case refused
    /// Infinity and NaN are represented by strings.
    case strings(infinity: String, negativeInfinity: String, nan: String)
  }

  /// The implementation that decodes and encodes.
  public enum Coder: Sendable, Hashable {
    /// The coder of this package.
    case apus
    /// Foundation's `JSONDecoder` and `JSONEncoder`, with the same settings. Values at a key path and in an envelope
    /// are still decoded by the coder of this package.
    ///
    /// Foundation decodes models nested up to 512 levels. If a server nests the values of a recursive type that deeply,
    /// decoding can need more than 1 MB of the thread's stack, which overflows on threads with the usual 512 KiB.
    case foundation
  }

  /// The mapping of property names to keys.
  public var keys: Keys
  /// The format of dates.
  public var dates: Dates
  /// The format of `Data`.
  public var bytes: Bytes
  /// The format of infinity and NaN. Default: ``NonFiniteNumbers/refused``.
  public var nonFiniteNumbers = NonFiniteNumbers.refused
  /// Whether encoded JSON has line breaks and indentation, as Foundation writes them. Default: `false`.
  public var isPrettyPrinted = false
  /// The `userInfo` of decoders and encoders, for `Decodable` and `Encodable` types. Default: empty.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The implementation. Default: ``Coder/apus``.
  public var coder = Coder.apus

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - keys: the mapping of property names to keys. Default: ``Keys/unchanged``.
  ///   - dates: the format of dates. Default: ``Dates/iso8601``.
  ///   - bytes: the format of `Data`. Default: ``Bytes/base64``.
  public init(keys: Keys = .unchanged, dates: Dates = .iso8601, bytes: Bytes = .base64) {
    self.keys = keys
    self.dates = dates
    self.bytes = bytes
  }

  /// The default coding: keys as written, ISO 8601 dates and Base64 bytes.
  public static let `default` = JSONCoding()
  /// The default coding with keys in snake case.
  public static let snakeCase = JSONCoding(keys: .snakeCase)
}
