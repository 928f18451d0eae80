import ApusCore
import ApusMiddleware
import ApusTesting

/// Responses that are rejections or malformed.
extension FailingCall {
  private static let said = SecretPlace.responseContent.secret
  private static let key = SecretPlace.responseKey.secret

  static var refusals: [FailingCall] {
    [
      refusal(
        "a problem",
        .accepted(
          #"{"title":"No.","account":"\#(said)"}"#, status: 422, type: "application/problem+json")),
      refusal("a code", .accepted(#"{"code":7,"token":"\#(said)"}"#, status: 400)),
      refusal("a challenge", .accepted("", status: 401)),
      refusal("a page", .accepted("<html>\(said)</html>", status: 500, type: "text/html")),
      FailingCall("an envelope", (.rejected, .decoding, .responded)) {
        $0.answer = .accepted(#"{"code":9,"message":"No.","data":{"token":"\#(said)"}}"#)
        $0.change = { $0.enveloped(EnvelopeFormat()) }
      },
      FailingCall("a stream that is refused", (.rejected, .receiving, .responded)) {
        $0.answer = .accepted(said, status: 403, type: "text/plain")
        $0.handler = { _ in }
      },
    ]
  }

  static var needing: FailingCall {
    FailingCall("another call that was needed", (.refused, .waiting, .notSent)) {
      $0.setUp = { $0.environment.authentication = .bearer(Needing()) }
    }
  }

  static var undecodable: [FailingCall] {
    [
      decoding("another type", #"{"title":{"\#(key)":"\#(said)"}}"#),
      decoding("a missing key", #"{"token":"\#(said)"}"#),
      decoding("no JSON", "\(said)"),
      decoding("JSON that ends early", #"{"title":"\#(said)"#),
      FailingCall("another kind of content", (.decoding, .decoding, .responded)) {
        $0.answer = .accepted("<html>\(said)</html>", type: "text/html")
      },
      decoding("nothing", ""),
      decoding("a key of a dictionary", #"{"\#(key)":"\#(said)"}"#) { content in
        _ = try content.decode([String: Int].self)
      },
      decoding("a key of a dictionary in snake case", #"{"\#(key)":"\#(said)"}"#, json: .snakeCase) { content in
        _ = try content.decode([String: Int].self)
      },
      decoding("a key made at run time", #"{"\#(key)":"\#(said)"}"#) { _ = try $0.decode(Dynamic.self) },
      decoding("a value that tells", #"{"title":"\#(said)"}"#) { _ = try $0.decode(Telling.self) },
      decoding("a parser that throws", #"{"title":"\#(said)"}"#) { _ in throw TellingError() },
    ]
  }

  private static func refusal(_ name: String, _ answer: StubReply) -> FailingCall {
    FailingCall(name, (.rejected, .decoding, .responded)) { $0.answer = answer }
  }

  private static func decoding(
    _ name: String, _ content: String, json: JSONCoding = .default,
    _ read: (@Sendable (Content) throws -> Void)? = nil
  ) -> FailingCall {
    FailingCall(name, (.decoding, .decoding, .responded)) {
      $0.answer = .accepted(content)
      guard let read else { return }
      $0.change = { request in
        request.mapped(
          by: ResponseMapping { content in
            try read(content)
            return Film(title: "read")
          }
        ).json(json)
      }
    }
  }
}

/// A credentials store that needs another call, which fails.
private struct Needing: CredentialsStore {
  func current() async throws -> StoredCredential {
    let stub = StubTransport.answering(.accepted("<html>\(SecretPlace.responseContent.secret)</html>", status: 500))
    try await TestClient().over(stub).send(.get("/token/\(SecretPlace.pathValue.secret)"))
    return StoredCredential(nil, generation: 0, principal: 0)
  }
  func set(_ credential: Credential) {}
  func clear() {}
}

/// A value that is decoded from an object with arbitrary keys.
private struct Dynamic: Decodable {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
  }
}

/// A value whose decoding error quotes the value.
private struct Telling: Decodable {
  enum Keys: CodingKey { case title }

  init(from decoder: any Decoder) throws {
    let text = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .title)
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath + [Keys.title], debugDescription: "odd: \(text)", underlyingError: TellingError()
      ))
  }
}
