import ApusJSON

/// The envelope that some servers put around every response: `{"code": 0, "message": "ok", "data": …}`.
///
/// A call whose envelope has no success code is rejected, regardless of its status. Set the format for a client with
/// ``CodingOptions/envelope``, or for an endpoint with `enveloped(_:)`.
public struct EnvelopeFormat: Sendable, Hashable {
  let code: String
  let message: String
  let data: String
  /// The codes of success, as text.
  let successCodes: Set<String>

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - code: the key of the code, which is a number or a string. Default: `code`.
  ///   - message: the key of the message. Default: `message`.
  ///   - data: the key of the value. Default: `data`.
  ///   - successCodes: the codes of success, as text. Default: 0 and 200.
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
    let document = try content.coding.effectiveJSON.document(content.data)
    try check(document)
    return try document.decode(Value.self, ifPresentAt: data)
  }

  /// Throws ``EnvelopeRejection`` if the code is not a success code.
  func check(_ content: Content) throws {
    try check(content.coding.effectiveJSON.document(content.data))
  }

  private func check(_ envelope: JSONDocument) throws {
    try envelope.requireObject()
    let text: String
    switch envelope[code] {
    case .number(let number): text = number.int.map { String($0) } ?? number.description
    case .bool(let bool): text = String(bool)
    case .string(let string): text = string
    case nil: throw envelope.missing(code)
    default:
      let path = [JSONKey(code, isWrittenInSource: true)]
      throw DecodingError.typeMismatch(String.self, .init(codingPath: path, debugDescription: "The code is none."))
    }
    // A long code is not compared: a server could choose a code whose Unicode comparison takes very long.
    guard text.utf8.count > 100 || !successCodes.contains(text) else { return }
    let message = envelope[message]?.string.flatMap { ServerText.message($0) }
    throw EnvelopeRejection(code: ServerText.code(text) ?? "", message: message)
  }
}

/// The code and message of an envelope that reports a failure.
struct EnvelopeRejection: Error {
  let code: String
  let message: String?
}
