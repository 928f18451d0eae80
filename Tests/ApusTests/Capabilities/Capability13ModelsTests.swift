import Apus
import ApusTestServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("13: responses become models")
struct Capability13ModelsTests {
  private func send<Value: Sendable>(_ request: Request<Value>, answering reply: Reply) async throws -> Value {
    try await withServer(answering: reply) { api, _ in try await api.send(request) }
  }

  private func error<Value: Sendable>(_ request: Request<Value>, answering reply: Reply) async throws -> CallError {
    try #require(await failure { try await send(request, answering: reply) })
  }

  private let ann = User(id: 7, name: "Ann")
  private let json = #"{"id":7,"name":"Ann"}"#

  @Test("An object, an array, a value at a key path and a value in an envelope are decoded")
  func shapes() async throws {
    #expect(try await send(.get("/a"), answering: .json(json)) == ann)
    #expect(try await send(.get("/a"), answering: .json("[\(json)]")) == [ann])
    let nested: Request<User> = .get("/a")
    #expect(try await send(nested.at("data.user"), answering: .json(#"{"data":{"user":\#(json)}}"#)) == ann)
    let envelope = #"{"code":0,"message":"ok","data":\#(json)}"#
    #expect(try await send(nested.enveloped(EnvelopeFormat()), answering: .json(envelope)) == ann)
  }

  @Test("A response without content, raw bytes and text are returned")
  func raw() async throws {
    try await send(Request<Void>.get("/a"), answering: .status(204))
    try await send(Request<Void>.get("/a"), answering: .json("garbage"))
    #expect(try await send(Request<User?>.get("/a"), answering: .status(204)) == nil)
    #expect(try await send(.get("/a"), answering: .status(200, content: [0, 255, 13])) == Data([0, 255, 13]))
    #expect(try await send(.get("/a"), answering: .text("{not json")) == "{not json")
  }

  @Test("A missing key and a wrong type are different errors, each with its coding path")
  func told() async throws {
    let missing = try await error(Request<[User]>.get("/a"), answering: .json(#"[\#(json),{"id":1}]"#))
    #expect(missing.code == .decoding)
    #expect(missing.codingPath == "[1].name")
    #expect(missing.detail.hasPrefix("a key is missing"))
    let wrong = try await error(Request<[User]>.get("/a"), answering: .json(#"[{"id":"x","name":"A"}]"#))
    #expect(wrong.codingPath == "[0].id")
    #expect(wrong.detail.contains("expected Int"))
    let shape = try await error(Request<[User]>.get("/a"), answering: .json(json))
    #expect(shape.codingPath == "the top")
    let html = try await error(Request<User>.get("/a"), answering: .text("<html>"))
    #expect(html.detail.contains("text/plain"))
    for error in [missing, wrong, shape, html] {
      #expect(error.requestState == .responded)
      #expect(error.status == 200)
      #expect(error.content?.data.isEmpty == false)
    }
  }

  @Test("Items that cannot be decoded are skipped only on request, and skipped items are reported")
  func lossy() async throws {
    let some = #"[\#(json),{"id":1},{"id":2,"name":"Bob"}]"#
    let strict = try await error(Request<[User]>.get("/a"), answering: .json(some))
    #expect(strict.codingPath == "[1].name")
    let lossy = try await send(Request<LossyArray<User>>.get("/a"), answering: .json(some))
    #expect(lossy.elements == [ann, User(id: 2, name: "Bob")])
    #expect(lossy.skipped.map(\.index) == [1])
    #expect(
      lossy.skipped.map(\.description) == [
        "element 1: a key is missing from the object (line 1, column \(json.utf8.count + 3), byte \(json.utf8.count + 2)) at [1].name"
      ])
  }
}
