import ApusCore
import ApusTesting
import HTTPTypes
import Logging
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Content logging")
struct ContentLoggingMiddlewareTests {
  private let log = LogRecorder()

  private func client(_ logging: ContentLoggingMiddleware? = nil) -> TestClient {
    var client = TestClient()
    let logging = logging ?? ContentLoggingMiddleware(log.logger())
    client.customize = { $0.insert(logging, .before(.transport)) }
    return client
  }

  private func masked(_ text: String, _ type: MediaType = .json, limit: Int = 4096) -> String? {
    let words = RevealingWords(ContentLoggingMiddleware.defaultMaskedNames)
    return ContentMasker(words: words).text(of: Data(text.utf8), type, limit: limit)
  }

  @Test("Content logging writes a line each for request and response, and masks secret members by name")
  func twoLines() async throws {
    let stub = StubTransport.answering(.json(#"{"id":7,"access_token":"s3cr3t","expires":60}"#))
    struct Tokens: Decodable, Sendable { let id: Int }
    let request = Request<Tokens>.post("/login", content: .json(["password": "s3cr3t"])).id("in", onDuplicate: .allow)
    _ = try await client().over(stub).send(request)
    let lines = log.lines.all
    #expect(lines.map(\.message) == ["request content", "response content"])
    #expect(lines.map(\.level) == [.debug, .debug])
    #expect(lines[0].metadata["content"] == #"{"password":"██"}"# && lines[0].metadata["call"] == "in")
    #expect(lines[1].metadata["content"] == #"{"id":7,"access_token":"██","expires":60}"#)
    #expect(lines[1].metadata["type"] == "application/json" && lines[1].metadata["length"] == "45")
  }

  @Test("Content is neither logged nor read if the logger's level is higher")
  func off() async throws {
    let stub = StubTransport.answering(.json("7"))
    let logging = ContentLoggingMiddleware(log.logger(level: .info))
    _ = try await client(logging).over(stub).send(Request<Int>.post("/a", content: .json([1])))
    #expect(log.lines.all.isEmpty)
  }

  @Test("Content is logged up to the middleware's limit")
  func limited() async throws {
    let stub = StubTransport.answering(.json(#""abcdefgh""#))
    _ = try await client(ContentLoggingMiddleware(log.logger(), limit: 5)).over(stub).send(Request<String>.get("/a"))
    #expect(log.lines.all.map { $0.metadata["content"] } == [#""abcd…"#])
  }

  @Test("Without the middleware no content is logged")
  func absent() async throws {
    _ = try await TestClient().over(StubTransport.answering(.json("7"))).send(Request<Int>.get("/a"))
    #expect(log.lines.all.isEmpty)
  }

  @Test("Of binary content, or content that is not in memory, at most type and length are logged")
  func others() async throws {
    let stub = StubTransport.answering(.bytes(Data("s3cr3t".utf8)))
    _ = try await client().over(stub).send(Request<String>.get("/a"))
    #expect(log.lines.all.map(\.message) == ["response content"])
    #expect(log.lines.all[0].metadata["content"] == nil && log.lines.all[0].metadata["length"] == "6")
    let streamed = StubTransport.answering(.pieces(["s3cr3t"]))
    _ = try await client().over(streamed).withResponse(to: Request<Data>.get("/a")) { try await $0.collect() }
    #expect(log.lines.all.last?.metadata["content"] == "not in memory")
    #expect(log.lines.all.allSatisfy { !$0.text.contains("s3cr3t") })
  }

  @Test(
    "JSON values of secret members are masked, whatever their type",
    arguments: [
      (#"{"token":{"a":[1,"x"]},"b":1}"#, #"{"token":"██","b":1}"#),
      (#"{"Api-Key" : 7 ,"b":1}"#, #"{"Api-Key":"██","b":1}"#),
      (#"[{"refreshToken":"a\"b"}]"#, #"[{"refreshToken":"██"}]"#), (#"{"a":"token"}"#, #"{"a":"token"}"#),
      (#"{"p\u0061ssword":"x"}"#, #"{"p\u0061ssword":"██"}"#), (#"{"secret":true}"#, #"{"secret":"██"}"#),
      ("{\"a\":\"\u{202e}\u{85}x\"}", #"{"a":"  x"}"#), ("", ""),
    ])
  func json(text: String, expected: String) {
    #expect(masked(text) == expected)
  }

  @Test("Form values are masked by the names of their parameters")
  func forms() {
    let form = MediaType("application/x-www-form-urlencoded")
    #expect(masked("user=ada&password=s3cr3t&b=1", form) == "user=ada&password=██&b=1")
    #expect(masked("p%61ssword=s3cr3t", form) == "p%61ssword=██")
    #expect(masked("a&b=&=c", form) == "a&b=&=c")
    #expect(masked("abcdef=1&b=2", form, limit: 4) == "abcd…")
    #expect(masked("a", MediaType("image/png")) == nil)
  }

  @Test("Logged JSON and forms are truncated at the limit", arguments: [0, 1, 10, 100])
  func limit(limit: Int) {
    let text = masked("[" + String(repeating: "123,", count: 1000) + "1]", limit: limit)
    #expect(text?.utf8.count == limit + "…".utf8.count && text?.hasSuffix("…") == true)
    let string = masked("[\"" + String(repeating: "x", count: 1000) + "\"]", limit: limit)
    #expect(string.map { $0.utf8.count <= limit + "…".utf8.count } == true)
    // A masked value that is longer than the read-ahead also hides the following text.
    let secret = masked(#"{"token":""# + String(repeating: "s", count: 1 << 20) + #"","b":"c"}"#, limit: limit)
    #expect(secret.map { !$0.contains("s3") && !$0.contains("ss") } == true)
  }

  @Test(
    "Logging hostile content takes time in proportion to the bytes read",
    arguments: ["[", "{\"token\":[", "\"", "\\", ":"])
  func hostile(piece: String) {
    let text = String(repeating: piece, count: 2_000_000 / piece.utf8.count)
    #expect(masked(text) == nil)
    #expect(masked(text, .text) != nil)
    #expect((masked(text, .form) != nil) == ["[", ":"].contains(piece))
  }
}
