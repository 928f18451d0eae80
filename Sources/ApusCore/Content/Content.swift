// Exported, so that importing this module or the umbrella makes `JSONCoding` and `JSONValue` available.
@_exported public import ApusJSON

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The complete, undecoded content (body) of a response with its media type and the coders in effect.
///
/// An endpoint whose value is `Content` lets each call name the type: `send(.video(id), as: Video.self)`.
public struct Content: Sendable, Decodable {
  /// The bytes.
  public let data: Data
  /// The media type from `Content-Type`, or `nil` if the field is missing.
  public let mediaType: MediaType?
  /// The status of the response.
  public let status: Int
  /// The coders and styles in effect.
  public let coding: CodingOptions
  /// The content codings of the bytes. `nil` if there are no codings or no bytes.
  var undecoded: UndecodedCoding?

  /// Creates content, for tests of parsers.
  public init(data: Data, mediaType: MediaType? = nil, status: Int = 200, coding: CodingOptions = CodingOptions()) {
    self.data = data
    self.mediaType = mediaType
    self.status = status
    self.coding = coding
  }

  /// Always throws: only the whole content of a response can be ``Content``, not a part of it.
  ///
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "A part of a response cannot be Content."))
  }

  /// A hash of all bytes, which differs between processes. `Data` itself hashes only its first bytes.
  var fingerprint: Int {
    var hasher = Hasher()
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  /// Decodes a value in the format in effect, JSON by default.
  ///
  /// - Throws: the error of the format. JSON throws `JSONError` for content that is not valid JSON, otherwise
  ///   `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let format = coding.format { return try format.decode(type, from: data) }
    return try coding.effectiveJSON.decode(type, from: data)
  }

  /// Throws if the bytes are in a registered content coding.
  ///
  /// - Throws: ``CallFault``.
  func requireDecoded() throws {
    if let undecoded, undecoded.isRegistered { throw CallFault(.decoding, undecoded.detail) }
  }

  /// Returns the content as text without a byte order mark: UTF-8, or Latin-1 if `Content-Type` declares it.
  ///
  /// - Throws: ``CallFault`` if the bytes are not valid text.
  func text() throws -> String {
    // Any bytes are valid Latin-1, so coded bytes would be read as text.
    try requireDecoded()
    switch mediaType?.parameter("charset")?.lowercased() {
    case "iso-8859-1", "latin1":
      return String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
    default:
      let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
      guard let text = String(validating: text, as: UTF8.self) else {
        throw CallFault(.decoding, "the content is not UTF-8 text")
      }
      return text
    }
  }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A format that encodes and decodes `Codable` values, such as JSON, property lists or CBOR.
///
/// JSON and forms are built in. Use another format with ``RequestContent/encoded(_:as:)`` and
/// ``CodingOptions/format``.
public protocol ContentFormat: Sendable {
  /// The media type of content (body) in this format.
  var mediaType: MediaType { get }
  /// Encodes a value.
  func encode(_ value: some Encodable) throws -> Data
  /// Decodes a value.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// JSON (RFC 8259) with a ``JSONCoding``.
struct JSONFormat: ContentFormat {
  private let coding: JSONCoding

  init(_ coding: JSONCoding = .default) {
    self.coding = coding
  }

  var mediaType: MediaType { .json }

  func encode(_ value: some Encodable) throws -> Data { try coding.encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try coding.decode(type, from: data)
  }
}

/// A parser for response content that is not `Decodable`, such as XML, CSV or images.
public protocol ContentParser<Value>: Sendable {
  /// The type of the parsed value.
  associatedtype Value: Sendable
  /// The media type for the `Accept` field. Default: `nil`, which accepts any media type.
  var accept: MediaType? { get }
  /// Parses the content.
  ///
  /// - Throws: any error. It becomes a ``CallError`` with the code `decoding`.
  func parse(_ content: Content) throws -> Value
}

extension ContentParser {
  /// `nil`, which accepts any media type.
  public var accept: MediaType? { nil }
}

/// The coders and styles of a call or client. For a property that is `nil`, a call uses the client's value.
public struct CodingOptions: Sendable {
  /// The JSON coding. Default of a client: ``JSONCoding/default``.
  public var json: JSONCoding?
  /// The style of query parameters. Default of a client: the default style.
  public var query: QueryStyle?
  /// The style of form content. Default of a client: the default style.
  public var form: QueryStyle?
  /// The format from which responses are decoded. Default of a client: JSON.
  public var format: (any ContentFormat)?
  /// The envelope around responses. Default of a client: none.
  public var envelope: EnvelopeFormat?

  /// Creates options in which every property is `nil`.
  public init() {}

  /// Returns these options, with the values of `base` for properties that are `nil`.
  func over(_ base: CodingOptions) -> CodingOptions {
    var options = self
    options.json = json ?? base.json
    options.query = query ?? base.query
    options.form = form ?? base.form
    options.format = format ?? base.format
    options.envelope = envelope ?? base.envelope
    return options
  }

  /// The JSON coding in effect.
  package var effectiveJSON: JSONCoding { json ?? .default }
  /// The query style in effect.
  var effectiveQuery: QueryStyle { query ?? .default }
  /// The form style in effect.
  var effectiveForm: QueryStyle { form ?? .default }
  /// The format in effect.
  var effectiveFormat: any ContentFormat { format ?? JSONFormat(effectiveJSON) }
}
