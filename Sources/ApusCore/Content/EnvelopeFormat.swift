import ApusJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The envelope that some servers put around every response: `{"code": 0, "message": "ok", "data": …}`.
///
/// A call whose envelope has no success code is rejected, regardless of its status. Set the format for a client with
/// ``CodingOptions/envelope``, or for an endpoint with `enveloped(_:)`.
public struct EnvelopeFormat: Sendable, Hashable {
  /// The key of the code, which is a number or a string.
  public var code: String
  /// The key of the message.
  public var message: String
  /// The key of the value.
  public var data: String
  /// The codes of success, as text.
  public var successCodes: Set<String>

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - code: the key of the code. Default: `code`.
  ///   - message: the key of the message. Default: `message`.
  ///   - data: the key of the value. Default: `data`.
  ///   - successCodes: the codes of success. Default: 0 and 200.
  public init(
    code: String = "code", message: String = "message", data: String = "data", successCodes: Set<String> = ["0", "200"]
  ) {
    self.code = code
    self.message = message
    self.data = data
    self.successCodes = successCodes
  }

  /// Decodes the value in an envelope.
  ///
  /// - Throws: ``EnvelopeRejection`` if the code is not a success code.
  func open<Value: Decodable>(_ content: Content) throws -> Value {
    let coding = content.coding.effectiveJSON
    guard !JSONCoding.isAnyJSON(Value.self) else {
      let json = try JSONValue(parsing: content.data)
      try check(json, coding)
      let value = json.object.flatMap { coding.member(data, in: $0) } ?? .null
      return try JSONCoding.value(of: value, as: Value.self, at: [AnyKey(data)])
    }
    try check(content)
    try JSONNesting.check(content.data)
    return try coding.decoder.decode(Enveloped<Value>.self, from: content.data, configuration: data).value
  }

  /// Throws ``EnvelopeRejection`` if the code is not a success code.
  func check(_ content: Content) throws {
    let coding = content.coding.effectiveJSON
    try check(
      JSONValue(parsing: content.data, keeping: { coding.isMember($0, code) || coding.isMember($0, message) }), coding)
  }

  private func check(_ envelope: JSONValue, _ coding: JSONCoding) throws {
    guard let members = envelope.object else {
      throw DecodingError.typeMismatch([String: Any].self, .init(codingPath: [], debugDescription: "No envelope."))
    }
    let text: String
    switch coding.member(code, in: members) {
    case .number(let number): text = number.int.map { String($0) } ?? number.description
    case .bool(let bool): text = String(bool)
    case .string(let string): text = string
    case nil:
      let context = DecodingError.Context(codingPath: [], debugDescription: "The envelope has no code.")
      throw DecodingError.keyNotFound(AnyKey(code), context)
    default:
      let context = DecodingError.Context(codingPath: [AnyKey(code)], debugDescription: "The code is none.")
      throw DecodingError.typeMismatch(String.self, context)
    }
    // A long code is not compared: a server could choose a code whose Unicode comparison takes very long.
    guard text.utf8.count > 100 || !successCodes.contains(text) else { return }
    let message = coding.member(message, in: members)?.string.flatMap { ServerText.message($0) }
    throw EnvelopeRejection(code: ServerText.code(text) ?? "", message: message)
  }
}

/// The value in an envelope.
private struct Enveloped<Value: Decodable>: DecodableWithConfiguration {
  let value: Value

  init(from decoder: any Decoder, configuration data: String) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    let key = container.key(data)
    // An optional value whose key is missing is `nil`.
    if !container.contains(key),
      let absent = try? JSONCoding.default.decoder.decode(Value.self, from: Data("null".utf8))
    {
      value = absent
    } else {
      value = try container.decode(Value.self, forKey: key)
    }
  }
}

/// The code and message of an envelope that reports a failure.
struct EnvelopeRejection: Error {
  let code: String
  let message: String?
}
