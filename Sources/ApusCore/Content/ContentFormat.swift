#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Turns `Codable` values into bytes of one media type and back.
///
/// JSON and forms are built in; a format of your own, such as property lists or CBOR, can be given to a
/// request's content and to a response's mapping.
public protocol ContentFormat: Sendable {
  /// What `Content-Type` says of content in this format.
  var mediaType: MediaType { get }
  /// The bytes of a value.
  func encode(_ value: some Encodable) throws -> Data
  /// The value of the bytes.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// JSON (RFC 8259) in one ``JSONCoding``.
public struct JSONFormat: ContentFormat {
  private let coding: JSONCoding

  /// Makes the format.
  public init(_ coding: JSONCoding = .standard) {
    self.coding = coding
  }

  /// `application/json`
  public var mediaType: MediaType { .json }

  /// Encodes a value as JSON.
  public func encode(_ value: some Encodable) throws -> Data { try coding.encode(value) }

  /// Decodes a value from JSON.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try coding.decode(type, from: data)
  }
}

/// Reads the content of a response into a value that need not be `Decodable`: XML, CSV, images, anything.
public protocol ContentParser<Value>: Sendable {
  /// What it makes.
  associatedtype Value: Sendable
  /// What `Accept` asks for; `nil`: anything.
  var accept: MediaType? { get }
  /// Makes the value; what it throws reaches the app as a ``CallError`` with the code `decoding`.
  func parse(_ content: Content) throws -> Value
}

extension ContentParser {
  /// Anything.
  public var accept: MediaType? { nil }
}

/// Coders and styles; `nil` means: what the level above says (call, endpoint, client, in this order).
public struct CodingOptions: Sendable {
  /// JSON.
  public var json: JSONCoding?
  /// Query parameters.
  public var query: QueryStyle?
  /// Forms.
  public var form: QueryStyle?
  /// The format answers are decoded from; JSON when nobody says otherwise.
  public var format: (any ContentFormat)?
  /// The envelope answers come in.
  public var envelope: EnvelopeFormat?

  /// Nothing chosen.
  public init() {}

  /// These options, completed by those of the level above.
  func over(_ base: CodingOptions) -> CodingOptions {
    var options = self
    options.json = json ?? base.json
    options.query = query ?? base.query
    options.form = form ?? base.form
    options.format = format ?? base.format
    options.envelope = envelope ?? base.envelope
    return options
  }

  /// The JSON coding in force.
  public var effectiveJSON: JSONCoding { json ?? .standard }
  /// The query style in force.
  public var effectiveQuery: QueryStyle { query ?? .standard }
  /// The form style in force.
  public var effectiveForm: QueryStyle { form ?? .standard }
  /// The format in force.
  public var effectiveFormat: any ContentFormat { format ?? JSONFormat(effectiveJSON) }
}
