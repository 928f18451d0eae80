import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Film: Codable, Sendable, Equatable { var title: String }
private struct Page: Decodable, Sendable { var items: [Film] }

@Suite("Mapping a response to its value") struct ResponseMappingTests {
  private func value<V: Decodable & Sendable>(
    _ json: String, as type: V.Type = V.self, coding: CodingOptions = CodingOptions(), status: Int = 200
  ) async throws(CallError) -> V {
    try await client(answering: .json(json, status: status), coding: coding).send(Request<V>.get("/x"))
  }

  @Test("JSON objects, arrays, numbers and null are decoded")
  func shapes() async throws {
    #expect(try await value(#"{"title":"Ran"}"#) == Film(title: "Ran"))
    #expect(try await value(#"[{"title":"a"},{"title":"b"}]"#) == [Film(title: "a"), Film(title: "b")])
    #expect(try await value("7") == 7)
    #expect(try await value("[]") == [Film]())
    #expect(try await value("null", as: Film?.self) == nil)
    #expect(try await value(#"{"title":"Ran"}"#, as: Film?.self) == Film(title: "Ran"))
    #expect(try await value("{\"title\":\"x\",\"more\":[1]}\n ") == Film(title: "x"))
  }

  @Test(
    "A response without content is nil for an optional, otherwise a decoding error that reports the missing content")
  func empty() async throws {
    let none = client(answering: .status(204))
    #expect(try await none.send(Request<Film?>.get("/x")) == nil)
    #expect(try await none.send(Request<Film?>.get("/x").at("data")) == nil)
    #expect(try await none.send(Request<Film?>.get("/x").enveloped(EnvelopeFormat())) == nil)
    for request in [Request<Film>.get("/x"), .get("/x").at("data"), .get("/x").enveloped(EnvelopeFormat())] {
      let error = await failure { try await none.send(request) }
      #expect(error?.code == .decoding)
      #expect(error?.detail == "the response has no content")
      #expect(error?.status == 204)
    }
    var coding = CodingOptions()
    coding.envelope = EnvelopeFormat()
    #expect(try await client(answering: .status(204), coding: coding).send(Request<Film?>.get("/x")) == nil)
  }

  @Test("An endpoint of Void ignores the content of the response")
  func void() async throws {
    for answer in [StubReply.status(204), .text("anything"), .json("{"), .bytes(Data([0xFF]))] {
      try await client(answering: answer).send(Request<Void>.post("/x"))
    }
  }

  @Test("Values of type Data and String are the raw bytes and the raw text, not decoded JSON")
  func raw() async throws {
    let api = client(answering: .json(#""quoted""#))
    #expect(try await api.send(Request<Data>.get("/x")) == Data(#""quoted""#.utf8))
    #expect(try await api.send(Request<String>.get("/x")) == #""quoted""#)
    #expect(try await client(answering: .status(200)).send(Request<String>.get("/x")) == "")
    #expect(try await client(answering: .status(200)).send(Request<Data>.get("/x")) == Data())
  }

  @Test("A value of type Content is the whole undecoded response; as a part of a model it is a decoding error")
  func undecoded() async throws {
    let api = client(answering: .json("[1]"))
    let content: Content = try await api.send(.get("/x"))
    #expect(content.data == Data("[1]".utf8))
    #expect(content.mediaType?.isJSON == true)
    let error = await failure { try await api.send(Request<[Content]>.get("/x")) }
    #expect(error?.code == .decoding)
  }

  @Test("Each status has its own mapping, and a status without a mapping is a decoding error")
  func byStatus() async throws {
    let mapping = ResponseMapping<String>.byStatus([
      200: .decoded, 202: .constant("later"), 207: ResponseMapping(accept: "text/x") { "\($0.status)" },
    ])
    let request = Request<Void>.get("/x").mapped(by: mapping)
    #expect(try await client(answering: .text("now")).send(request) == "now")
    #expect(try await client(answering: .status(202)).send(request) == "later")
    #expect(try await client(answering: .status(207)).send(request) == "207")
    let error = await failure { try await client(answering: .status(206)).send(request) }
    #expect(error?.code == .decoding && error?.status == 206)
    #expect(ResponseMapping<Int>.byStatus([201: .constant(1), 200: .decoded]).accept == .json)
    #expect(ResponseMapping<Int>.byStatus([:]).accept == nil)
  }

  @Test("Errors for wrong types, missing keys and nulls differ and contain the coding path")
  func places() async throws {
    let cases: [(String, detail: String, place: String)] = [
      (
        #"{"items":[{"title":"a"},{"title":"b"},{"title":"c"},{"title":5}]}"#,
        "expected String, found a number (line 1, column 62, byte 61)",
        "items[3].title"
      ),
      (
        #"{"items":[{"title":"a"},{}]}"#, "a key is missing from the object (line 1, column 25, byte 24)",
        "items[1].title"
      ),
      (#"{"items":[{"title":null}]}"#, "expected String, found null (line 1, column 20, byte 19)", "items[0].title"),
      (#"{"items":{}}"#, "expected an array, found an object (line 1, column 10, byte 9)", "items"),
      ("[]", "expected an object, found an array (line 1, column 1, byte 0)", "the top"),
      ("{}", "a key is missing from the object (line 1, column 1, byte 0)", "items"),
      ("null", "expected an object, found null (line 1, column 1, byte 0)", "the top"),
    ]
    for (json, detail, place) in cases {
      let error = await failure { try await value(json, as: Page.self) }
      #expect(error?.code == .decoding)
      #expect(error?.codingPath == place, "\(json)")
      #expect(error?.detail == detail, "\(json)")
      #expect(error?.underlying is DecodingError)
      #expect(error?.content?.data == Data(json.utf8))
      #expect(error?.requestState == .responded)
    }
  }

  @Test(
    "Decoding content that is not JSON fails with a decoding error",
    arguments: ["{", "", "[1,", "nope", "{\"items\":[{\"title\":\"a", "\u{0}", "{}{}"])
  func malformed(json: String) async {
    let error = await failure { try await value(json, as: Page.self) }
    #expect(error?.code == .decoding)
  }

  @Test("A decoding error names the media type of an HTML page received instead of JSON")
  func html() async {
    let page = StubReply.text("<html>secret</html>", fields: [.contentType: "Text/HTML; charset=utf-8"])
    let error = await failure {
      try await client(answering: page).send(Request<Page>.get("/x"))
    }
    #expect(error?.code == .decoding)
    #expect(error?.detail == "the content is not valid JSON (unexpected byte at byte 0) (it came as text/html)")
    #expect(error?.content?.mediaType?.essence == "text/html")
  }

  @Test("Decoding JSON nested ten thousand levels deep does not trap")
  func deep() async throws {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let deep = String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
      let error = await failure { try await value(deep, as: JSONValue.self) }
      #expect(error?.code == .decoding)
      let refusal = await failure { try await value(deep, as: Int.self, status: 500) }
      #expect(refusal?.code == .rejected && refusal?.rejection?.message == nil && refusal?.rejection?.code == nil)
    }
    let some = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    _ = try await value(some, as: JSONValue.self)
  }

  @Test("A part of the content is decoded at its key path, also in snake case")
  func keyPath() async throws {
    let json = #"{"result_page":{"film_list":[{"title":"a"}],"_private":1,"a__b":2,"HTTP_Code":3,"x_":4}}"#
    let api = client(answering: .json(json))
    #expect(try await api.send(Request<[Film]>.get("/x").at("result_page.film_list")) == [Film(title: "a")])
    for (path, number) in [("_private", 1), ("a__b", 2), ("HTTP_Code", 3), ("x_", 4)] {
      #expect(try await api.send(Request<Int>.get("/x").at("result_page.\(path)")) == number)
      #expect(try await api.send(Request<Int>.get("/x").at("result_page.\(path)").json(.snakeCase)) == number)
    }
    #expect(try await api.send(Request<[Film]>.get("/x").at("resultPage.filmList").json(.snakeCase)).count == 1)
    #expect(try await client(answering: .json("5")).send(Request<Int>.get("/x").at("")) == 5)
  }

  @Test("Decoding at a key path that does not exist fails with the coding path up to the missing key")
  func noKeyPath() async {
    let api = client(answering: .json(#"{"data":{"items":3}}"#))
    for (path, place, detail) in [
      ("data.films", "data.films", "a key is missing from the object (line 1, column 9, byte 8)"),
      ("info.films", "info", "a key is missing from the object (line 1, column 1, byte 0)"),
      ("data.items.first", "data.items", "expected an object, found a number (line 1, column 18, byte 17)"),
      ("data", "data", "expected an array, found an object (line 1, column 9, byte 8)"),
    ] {
      let error = await failure { try await api.send(Request<[Film]>.get("/x").at(path)) }
      #expect(error?.code == .decoding)
      #expect(error?.codingPath == place)
      #expect(error?.detail == detail)
    }
  }

  @Test("Dictionary keys, which come from the server, are masked in the coding path")
  func dictionaryKeys() async {
    let json = #"{"ann@example.com":{"title":1}}"#
    let error = await failure { try await value(json, as: [String: Film].self) }
    #expect(error?.codingPath == "██.title")
    let numbered = await failure { try await value(#"{"77":"x"}"#, as: [Int: Int].self) }
    #expect(numbered?.codingPath == "██")
  }

  @Test("Keys created at run time are masked in the coding path, keys declared in source are not")
  func keysMadeAtRunTime() async throws {
    struct Made: CodingKey {
      let stringValue: String
      var intValue: Int? { Int(stringValue) }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    enum Wrapped: CodingKey {
      case other(String)
      var stringValue: String { if case .other(let name) = self { name } else { "" } }
      var intValue: Int? { nil }
      init(stringValue: String) { self = .other(stringValue) }
      init?(intValue: Int) { nil }
    }
    struct Table<Key: CodingKey>: Decodable, Sendable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for key in container.allKeys { _ = try container.decode(Film.self, forKey: key) }
      }
    }
    for json in [#"{"ann@example.com":{"title":1}}"#, #"{"4711":{"title":1}}"#] {
      let made = await failure { try await value(json, as: Table<Made>.self) }
      #expect(made?.codingPath == "██.title")
      let wrapped = await failure { try await value(json, as: Table<Wrapped>.self) }
      #expect(wrapped?.codingPath == "██.title")
      var coding = CodingOptions()
      coding.json = .snakeCase
      let snake = await failure {
        try await value(json, as: [String: Film].self, coding: coding)
      }
      #expect(snake?.codingPath == "██.title")
    }
    let nested = #"{"ann":[{"title":"a"},{"title":2}]}"#
    let listed = await failure { try await value(nested, as: [String: [Film]].self) }
    #expect(listed?.codingPath == "██[1].title")
  }

  @Test("An unavailable response mapping throws a fault with the reason")
  func unavailable() {
    #expect(throws: CallFault.self) { try ResponseMapping<Int>.unavailable.read(Content(data: Data())) }
  }
}
