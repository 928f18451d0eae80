#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The frame that some servers put around every answer: `{"code": 0, "message": "ok", "data": …}`.
///
/// A code that does not stand for success makes the call a rejection, whatever the status was. Set it for
/// a whole client, or for one endpoint with `enveloped(_:)`.
public struct EnvelopeFormat: Sendable, Hashable {
  /// The key of the code, a number or a text.
  public var code: String
  /// The key of the sentence that goes with the code.
  public var message: String
  /// The key of the value.
  public var data: String
  /// The codes that stand for success, as text.
  public var successCodes: Set<String>

  /// Makes a format. Default: keys `code`, `message` and `data`, success is 0 or 200.
  public init(
    code: String = "code", message: String = "message", data: String = "data", successCodes: Set<String> = ["0", "200"]
  ) {
    self.code = code
    self.message = message
    self.data = data
    self.successCodes = successCodes
  }

  /// Takes the value out of an envelope.
  func open<Value: Decodable>(_ content: Content) throws -> Value {
    try content.coding.effectiveJSON.decoder.decode(Envelope<Value>.self, from: content.data, configuration: self).value
  }

  /// Looks only whether the envelope tells of a failure.
  func check(_ content: Content) throws {
    let _: Ignored = try content.coding.effectiveJSON.decoder.decode(
      Ignored.self, from: content.data, configuration: self)
  }
}

/// An envelope with its value.
private struct Envelope<Value: Decodable>: DecodableWithConfiguration {
  let value: Value

  init(from decoder: any Decoder, configuration format: EnvelopeFormat) throws {
    let container = try EnvelopeFormat.successful(decoder, format)
    let key = container.key(format.data)
    if let absent = try Self.absentValue(container, key) {
      value = absent
    } else {
      value = try container.decode(Value.self, forKey: key)
    }
  }

  /// `nil` as a value, for an optional type whose key is missing.
  private static func absentValue(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey) throws -> Value? {
    guard !container.contains(key) else { return nil }
    return try? JSONCoding.standard.decoder.decode(Value.self, from: Data("null".utf8))
  }
}

/// An envelope whose value nobody wants.
private struct Ignored: DecodableWithConfiguration {
  init(from decoder: any Decoder, configuration format: EnvelopeFormat) throws {
    _ = try EnvelopeFormat.successful(decoder, format)
  }
}

extension EnvelopeFormat {
  /// The envelope's container, when its code stands for success.
  fileprivate static func successful(
    _ decoder: any Decoder, _ format: EnvelopeFormat
  ) throws -> KeyedDecodingContainer<AnyKey> {
    let container = try decoder.container(keyedBy: AnyKey.self)
    let code = try container.decode(CodeText.self, forKey: container.key(format.code)).text
    guard format.successCodes.contains(code) else {
      let message = try? container.decodeIfPresent(String.self, forKey: container.key(format.message))
      throw EnvelopeRejection(code: code, message: message)
    }
    return container
  }
}

/// A code that may be a number, a text or a truth value.
private struct CodeText: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      text = String(number)
    } else if let bool = try? container.decode(Bool.self) {
      text = String(bool)
    } else {
      text = try container.decode(String.self)
    }
  }
}

/// What an envelope that tells of a failure says.
struct EnvelopeRejection: Error {
  let code: String
  let message: String?
}
