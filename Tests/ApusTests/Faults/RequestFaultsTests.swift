import Apus
import ApusTesting
import Testing

@Suite("URL and content faults that must not occur")
struct RequestFaultsTests {
  private let stub = StubTransport()

  private func target(
    _ path: RequestPath, query: Query = [:], base: BaseURL = "https://example.test/v1"
  ) async throws -> String {
    let api = Client(baseURL: base, transport: stub)
    return try await api.message(for: Request<Void>.get(path, query: query)).target
  }

  @Test("A request without query parameters has no lone question mark")
  func bareQuestionMark() async throws {
    #expect(try await target("/a", query: [:]) == "/v1/a")
    #expect(try await target("/a", query: ["x": nil as String?]) == "/v1/a")
    #expect(try await target("/a?") == "/v1/a")
    #expect(try await target("/a", base: "https://example.test/v1?") == "/v1/a")
  }

  @Test("The base URL's query is sent with every request")
  func lostBaseQuery() async throws {
    let base: BaseURL = "https://example.test/v1?key=1"
    #expect(try await target("/a", base: base) == "/v1/a?key=1")
    #expect(try await target("/a", query: ["x": 2], base: base) == "/v1/a?key=1&x=2")
  }

  @Test("A Content-Type field that would remove the boundary of multipart content fails the call before it is sent")
  func wipedBoundary() async throws {
    let api = Client(baseURL: "https://example.test", transport: stub)
    let request = Request<Void>.post("/a", content: .multipart([.value("a", 1)]))
    let error = await #expect(throws: CallError.self) {
      try await api.send(request.field("Content-Type", "multipart/form-data"))
    }
    #expect(error?.code == .invalidRequest && stub.exchanges.isEmpty)
    let common = Client(baseURL: "https://example.test", transport: stub) { $0.setField("Content-Type", "text/plain") }
    let message = try await common.message(for: request)
    #expect(message.head.headerFields[.contentType]?.contains("; boundary=") == true)
  }

  @Test("A plus sign in a query value is encoded, because servers decode it as a space")
  func rawPlus() async throws {
    #expect(try await target("/a", query: ["tel": "+49 1"]) == "/v1/a?tel=%2B49%201")
  }

  @Test("No query contains Optional(…)")
  func optionalInQuery() async throws {
    let (some, none): (Int?, Int?) = (7, nil)
    let nested: Int?? = 8
    #expect(try await target("/a", query: ["x": some, "y": none, "z": nested]) == "/v1/a?x=7&z=8")
    struct Filter: Encodable, Sendable { var x: Int?, y: Int? }
    #expect(try await target("/a", query: Query(Filter(x: 7))) == "/v1/a?x=7")
  }

  @Test("Values in query and path are not percent-encoded twice")
  func encodedTwice() async throws {
    #expect(try await target("/a/\("b c")", query: ["x": "a b%"]) == "/v1/a/b%20c?x=a%20b%25")
    #expect(try await target("/a/b%20c") == "/v1/a/b%20c")
  }

  @Test("A question mark in an endpoint's path starts its query, and a .. segment cannot leave the base URL")
  func escapedQuestionMark() async throws {
    #expect(try await target("/search?q=1") == "/v1/search?q=1")
    #expect(await failure { try await target("/../admin") }?.code == .invalidRequest)
    #expect(await failure { try await target("/users/\("..")/admin") }?.code == .invalidRequest)
    #expect(await failure { try await target("/users/%2e%2e/admin") }?.code == .invalidRequest)
  }

  @Test("Content that cannot be encoded and an invalid URL throw instead of trapping")
  func forcedTry() async throws {
    let api = Client(baseURL: "https://example.test", transport: stub)
    let content = await failure { try await api.send(.post("/a", content: .json([Double.infinity]))) }
    #expect(content?.code == .encoding)
    for base in ["", "not a url", "http://[", "https://exa mple.test"] {
      let api = Client(baseURL: BaseURL(stringLiteral: base), transport: stub)
      #expect(await failure { try await api.send(.ping) }?.code == .invalidRequest)
    }
    #expect(stub.exchanges.isEmpty)
  }

  @Test("Query and content are each sent without the other")
  func bothDropped() async throws {
    stub.onAny(reply: .status(204))
    let api = Client(baseURL: "https://example.test", transport: stub)
    try await api.send(.post("/a", query: ["q": 1], content: .json([1])))
    try await api.send(.post("/a", query: ["q": 1]))
    try await api.send(.post("/a", content: .json([1])))
    try await api.send(.post("/a"))
    #expect(stub.exchanges.map(\.target) == ["/a?q=1", "/a?q=1", "/a", "/a"])
    #expect(stub.exchanges.map(\.text) == ["[1]", "", "[1]", ""])
  }
}
