import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Request content") struct RequestContentTests {
  private struct Film: Codable {
    var title = "Ran/1985"
    var stars: Double = 5
  }

  private func message(_ content: RequestContent, coding: CodingOptions = CodingOptions()) async throws(CallError)
    -> RequestMessage
  {
    try await builtMessage(Request<Void>.post("/x", content: content), coding: coding)
  }

  @Test("JSON content is sent as application/json, without escaped slashes")
  func json() async throws {
    let message = try await message(.json(Film()))
    #expect(message.head.headerFields[.contentType] == "application/json")
    let text = try #require(content(of: message))
    #expect(text.contains(#""title":"Ran/1985""#) && text.contains(#""stars":5"#))
  }

  @Test("Form content has one parameter for each property, or the specified parameters in order")
  func form() async throws {
    let message = try await message(.form(Film()))
    #expect(message.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
    #expect(content(of: message) == "title=Ran%2F1985&stars=5")
    #expect(content(of: try await self.message(.form(["z": 1, "a": [1, 2], "n": nil]))) == "z=1&a=1&a=2")
  }

  @Test("Bytes and text are sent unchanged, with their media type")
  func bytes() async throws {
    let bytes = try await message(.bytes(Data([0, 255])))
    guard case .bytes(let data) = bytes.content else { return #expect(Bool(false), "not bytes") }
    #expect(data == Data([0, 255]))
    #expect(bytes.head.headerFields[.contentType] == "application/octet-stream")
    let text = try await message(.text("é", "text/markdown"))
    #expect(content(of: text) == "é")
    #expect(text.head.headerFields[.contentType] == "text/markdown")
    #expect(try await message(.text("x")).head.headerFields[.contentType] == "text/plain; charset=utf-8")
  }

  @Test("Content of zero bytes has a length and a media type")
  func noBytes() async throws {
    let message = try await message(.bytes(Data()))
    #expect(!message.content.isEmpty)
    #expect(message.content.length == 0)
    #expect(message.head.headerFields[.contentType] == "application/octet-stream")
  }

  @Test("Content-Type is sent only with content")
  func noContentType() async throws {
    let requests: [Request<Void>] = [.get("/x"), .post("/x"), .delete("/x"), .put("/x", content: .empty)]
    for request in requests {
      let message = try await builtMessage(request)
      #expect(message.head.headerFields[.contentType] == nil)
      #expect(message.content.isEmpty)
      #expect(message.content.length == 0)
      #expect(message.content.isReplayable)
    }
  }

  @Test("A request can have a query, content, both or neither")
  func together() async throws {
    let both = try await builtMessage(Request<Void>.post("/x", query: ["a": 1], content: .json([1])))
    #expect(both.target == "/x?a=1" && content(of: both) == "[1]")
    let query = try await builtMessage(Request<Void>.post("/x", query: ["a": 1]))
    #expect(query.target == "/x?a=1" && query.content.isEmpty)
    let alone = try await builtMessage(Request<Void>.post("/x", content: .json([1])))
    #expect(alone.target == "/x" && content(of: alone) == "[1]")
  }

  @Test("Content that cannot be encoded fails with an error that has the coding path")
  func unencodable() async throws {
    struct Order: Encodable { var items = [Film(), Film(stars: .nan)] }
    let cases: [(RequestContent, String)] = [
      (.json(Order()), "items[1].stars"), (.json(Film(stars: .infinity)), "stars"), (.json(Double.nan), "the top"),
      (.json(["rate": Double.nan]), "rate"), (.form(Film(stars: .nan)), "stars"),
      (.encoded(Film(stars: .nan), as: JSONFormat()), "stars"), (.form(["a": Double.nan]), "a"),
    ]
    for (content, place) in cases {
      let error = await failure { try await message(content) }
      #expect(error?.code == .encoding)
      #expect(error?.codingPath == place)
      #expect(error?.requestState == .notSent)
      #expect(error?.phase == .preparing)
    }
  }

  @Test("Content in a custom format has the format's media type")
  func ownFormat() async throws {
    let message = try await message(.encoded(Film(), as: LineFormat()))
    #expect(message.head.headerFields[.contentType] == "text/x-lines")
    #expect(content(of: message) == "encoded")
  }

  @Test("Custom content is created with the coding in effect")
  func ownContent() async throws {
    var coding = CodingOptions()
    coding.json = .snakeCase
    let content = RequestContent("application/x-own") { .bytes(Data("\($0.effectiveJSON.keys)".utf8)) }
    let message = try await message(content, coding: coding)
    #expect(text(of: message.content) == "snakeCase")
    #expect(message.head.headerFields[.contentType] == "application/x-own")
    #expect(try await self.message(RequestContent(nil) { _ in .bytes(Data()) }).head.headerFields[.contentType] == nil)
  }

  @Test("A media type that is not a valid field value is refused")
  func badMediaType() async {
    let error = await failure { try await message(.text("x", "text/plain\r\nX: y")) }
    #expect(error?.code == .invalidRequest)
  }

  @Test("Request content is encoded once for each call, when the call is sent")
  func once() async throws {
    let count = Counter()
    let content = RequestContent(.text) { _ in
      count.add()
      return .bytes(Data())
    }
    let request = Request<Void>.post("/x", content: content)
    #expect(count.value == 0)
    try await client().send(request)
    #expect(count.value == 1)
  }
}

/// A format whose output proves that it was used.
struct LineFormat: ContentFormat {
  var mediaType: MediaType { "text/x-lines" }
  func encode(_ value: some Encodable) throws -> Data { Data("encoded".utf8) }
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    guard let value = lines as? Value else { throw TransportError(.invalidRequest, requestState: .responded) }
    return value
  }
}
