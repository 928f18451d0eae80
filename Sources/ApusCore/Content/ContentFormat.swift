// Exported, so that importing this module or the umbrella makes `JSONCoding` and `JSONValue` available.
@_exported public import ApusJSON

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
  /// The media type for the `Accept` field. Default: `nil`, which accepts any.
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

  /// Returns these options, with properties that are `nil` replaced by those of `base`.
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
