import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Film: Codable, Sendable {
  var title = "Ran"
  var stars = 1.0
}

@Suite("Bad input becomes a typed error with the coding path and the content")
struct BadInputTests {
  /// A way to decode a response.
  private struct Reading: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let send: @Sendable (Client) async -> CallError?

    static func reading<Value: Sendable>(_ name: String, _ request: Request<Value>) -> Reading {
      Reading(testDescription: name) { api in
        await failure { try await api.send(request) }
      }
    }

    static let all: [Reading] = [
      reading("an object", Request<Film>.get("/x")), reading("an array", Request<[Film]>.get("/x")),
      reading("a dictionary", Request<[String: Film]>.get("/x")),
      reading("a lossy array", Request<LossyArray<Film>>.get("/x")),
      reading("below a key path", Request<Film>.get("/x").at("data.film")),
      reading("in an envelope", Request<Film>.get("/x").enveloped(EnvelopeFormat())),
      reading("in snake case", Request<Film>.get("/x").json(.snakeCase)),
      reading("by status", Request<Film>.get("/x").mapped(by: ResponseMapping<Film>.byStatus([200: .decoded]))),
      Reading(testDescription: "as the call says") { api in
        await failure { try await api.send(Request<Content>.get("/x"), as: Film.self) }
      },
      Reading(testDescription: "after it was streamed") { api in
        await failure {
          try await api.withResponse(to: Request<Content>.get("/x")) { response in
            let data = try await response.collect()
            do {
              _ = try Content(data: data).decode(Film.self)
            } catch {
              throw CallFault(.decoding, DecodingFailure(error).detail)
            }
          }
        }
      },
    ]
  }

  private static func deep(_ open: String, _ close: String) -> String {
    String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
  }

  private static let answers: [String] = [
    "", " ", "{", "[", "\"", "nope", "{]", "[1,", "{\"title\":", "{\"title\":\"R", "{\"title\":\"\\u12",
    "{\"title\":\"\\uD800\"}",
    "{\"title\":tru", "\u{0}", "\u{FEFF}", "{}{}", "[] []", "{'title':'Ran'}", "NaN", "-", "1e", "1e999", "{\"a\":1,}",
    "[1,]",
    "<html></html>", "null", "7", "true", "\"text\"", "[[]]", "{\"title\":7}", "{\"title\":null}", "{\"data\":7}",
    "{\"code\":0,\"data\":[]}", "{\"code\":{},\"data\":{}}", deep("[", "]"), deep("{\"a\":", "}"),
    deep("{\"data\":", "}"),
    deep("[{\"data\":", "}]"), String(repeating: "[", count: 10_000), String(repeating: "{\"title\":", count: 10_000),
  ]

  @Test("Content that does not match the expected type is a decoding error", arguments: Reading.all)
  private func answers(reading: Reading) async {
    let isStreamed = reading.testDescription == "after it was streamed"
    for text in Self.answers {
      // A lossy array without a single valid element is still an array; the decoder accepts a trailing comma.
      if reading.testDescription == "a lossy array", ["[[]]", "[1,]"].contains(text) { continue }
      let error = await reading.send(client(answering: .json(text)))
      #expect(error?.code == (isStreamed ? .handler : .decoding), "\(text.prefix(30))")
      #expect(error?.requestState == .responded && error?.status == 200 && error?.detail.isEmpty == false)
      if !isStreamed { #expect(error?.content?.data == Data(text.utf8).prefix(CallError.contentLimit)) }
    }
  }

  @Test(
    "The error of a rejected response has the status and the content, even if the content is malformed",
    arguments: ["application/problem+json", "application/json", "text/plain"])
  func refusals(type: String) async {
    struct Refused: Decodable, Sendable { var reason: String }
    for text in Self.answers + [Self.deep("{\"error\":", "}"), Self.deep("{\"errors\":[", "]}")] {
      let api = client(answering: .json(text, status: 422, fields: [.contentType: type]))
      let error = await failure {
        try await api.send(Request<Film>.get("/x").rejecting(as: Refused.self))
      }
      #expect(error?.code == .rejected && error?.status == 422 && error?.requestState == .responded)
      #expect(error?.content?.data == Data(text.utf8).prefix(CallError.contentLimit))
      #expect(error?.errorDescription?.isEmpty == false && error?.rejection(as: Refused.self) == nil)
    }
  }

  @Test("A response whose content ends early fails with connectionLost after the head", arguments: [true, false])
  func truncated(isStreamed: Bool) async {
    let api = client(answering: .pieces([#"{"title":"#, #""Ran"}"#]).failing(after: 1))
    let error = await failure {
      if isStreamed { return try await api.withResponse(to: Request<Film>.get("/x")) { try await $0.collect().count } }
      return try await api.send(Request<Film>.get("/x")).title.count
    }
    #expect(error?.code == .connectionLost && error?.requestState == .responded && error?.status == 200)
    #expect(error?.phase == (isStreamed ? .handling : .receiving))
  }

  @Test("Content that arrives byte by byte, so that characters are split, is decoded")
  func split() async throws {
    let json = Data(#"{"title":"日本 😀","stars":1}"#.utf8)
    let film = try await client(answering: .pieces(json.map { Data([$0]) })).send(Request<Film>.get("/x"))
    #expect(film.title == "日本 😀")
  }

  @Test("The error for a number that is infinite or not a number has its coding path, in content, forms and queries")
  func numbers() async {
    struct Order: Encodable, Sendable { var items = [Film(), Film(title: "a", stars: .nan)] }
    let requests: [(Request<Void>, String)] = [
      (.post("/x", content: .json(Order())), "items[1].stars"),
      (.post("/x", content: .form(Order())), "items[stars]"),
      (.get("/x", query: Query(Order())), "items[stars]"), (.get("/x", query: ["rate": Double.infinity]), "rate"),
      (.get("/x", query: ["rates": [1, -Double.infinity]]), "rates"), (.get("/x", query: ["rate": Float.nan]), "rate"),
    ]
    for (request, place) in requests {
      let error = await failure { try await client().send(request) }
      #expect(error?.code == .encoding && error?.requestState == .notSent)
      #expect(error?.codingPath == place)
      #expect(error?.attempts == 0)
    }
  }

  @Test("A value that encodes nothing is an encoding error when it is sent as JSON content")
  func nothing() async {
    struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
    let error = await failure {
      try await client().send(Request<Void>.post("/x", content: .json(Silent())))
    }
    #expect(error?.code == .encoding)
    #expect(error?.codingPath == "the top")
  }

  @Test(
    "A path value that would change the path is refused before a request is sent",
    arguments: ["..", ".", "%2e%2e", "%2E.", "a\u{0}b", "a\r\nHost: evil", "a\u{7F}", "", "\t"])
  func pathValues(value: String) async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    let api = Client(environment: Environment(baseURL: "https://a.example"), transport: stub)
    let error = try #require(
      await failure { try await api.send(Request<Void>.get("/users/\(value)/friends")) })
    #expect(error.code == .invalidRequest && error.requestState == .notSent && error.phase == .preparing)
    #expect(error.detail.hasPrefix("a path value "))
    #expect(error.description.contains("GET /users/{}/friends") && stub.exchanges.isEmpty)
  }

  @Test(
    "Unusual field values of a response change neither its status nor the kind of its error",
    arguments: ["", "x", "-1", "99999999999999999999", "0x10", "1, 2", "\u{E9}"])
  func answerFields(value: String) async throws {
    let fields: HTTPFields = [
      .contentLength: value, .contentType: value, .retryAfter: value, .date: value, .setCookie: value, .location: value,
    ]
    for status in [200, 204, 301, 304, 401, 503] {
      let api = client(answering: .pieces(["{}"], status: status, fields: fields))
      let error = await failure { try await api.send(Request<Film>.get("/x")) }
      #expect([.decoding, .rejected, .contentTooLarge].contains(error?.code))
      #expect(error?.status == status)
    }
  }
}
