#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event of an event stream (WHATWG HTML, server-sent events).
///
/// `Codable`, so that it can be the element of an ``EventStream`` and be stored.
public struct ServerSentEvent: Sendable, Hashable, Codable {
  /// The type of the event, from the field `event`. Default: `message`.
  public var name: String
  /// The data: the values of the fields `data`, joined by LF.
  public var data: Data
  /// The last event ID: the value of the last field `id` of this event or of an earlier event. Empty if no event had
  /// this field.
  ///
  /// A value with control characters or more than 4 KiB, which cannot be sent in a request, is ignored.
  public var id: String

  /// Creates an event, for tests and fakes.
  public init(name: String = "message", data: Data, id: String = "") {
    (self.name, self.data, self.id) = (name, data, id)
  }

  /// Creates an event with text as its data, for tests and fakes.
  public init(name: String = "message", text: String, id: String = "") {
    self.init(name: name, data: Data(text.utf8), id: id)
  }

  /// The data as text. Invalid UTF-8 becomes U+FFFD.
  public var text: String { String(decoding: data, as: UTF8.self) }

  /// Decodes the data from JSON, for example by the event's ``name``.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - coding: the JSON coding. Default: ``JSONCoding/default``, not the client's coding.
  /// - Throws: `JSONError` if the data is not valid JSON or is nested too deeply; `DecodingError` if it does not match
  ///   the type; errors of the type itself.
  public func decode<Value: Decodable>(_ type: Value.Type, using coding: JSONCoding = .default) throws -> Value {
    try coding.decode(type, from: data)
  }
}
