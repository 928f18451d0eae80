import ApusCore
import ApusTesting
import HTTPTypes
import Testing

private struct User: Codable, Sendable, Equatable { var id: Int }
private struct GetUser: Endpoint {
  let id: Int
  var request: Request<User> { .get("/users/\(id)") }
}

@Suite("Rules of a stub")
struct StubRuleTests {
  private let stub = StubTransport()
  private let api: Client

  init() {
    api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub)
  }

  @Test("A stub rule matches a method and a target")
  func methodAndTarget() async throws {
    stub.on(.get, "/users/7", reply: .json(#"{"id":7}"#))
    #expect(try await api.send(GetUser(id: 7)) == User(id: 7))
    #expect(stub.exchanges.map(\.target) == ["/users/7"])
    #expect(stub.exchanges.first?.outcome == .replied)
    #expect(stub.exchanges.first?.status == 200)
  }

  @Test("A stub rule's target without a query matches any query; with a query, only that query")
  func queries() async throws {
    stub.on(.get, "/films", reply: .text("any"))
    stub.on(.get, "/films?page=2", reply: .text("second"))
    #expect(try await api.send(Request<String>.get("/films", query: ["page": 1])) == "any")
    #expect(try await api.send(Request<String>.get("/films", query: ["page": 2])) == "second")
    #expect(try await api.send(Request<String>.get("/films")) == "any")
  }

  @Test("A stub rule does not match another method or target")
  func noMatch() async throws {
    stub.on(.post, "/users/7", reply: .json(#"{"id":7}"#))
    stub.on(.get, "/users/70", reply: .json(#"{"id":70}"#))
    await #expect(throws: CallError.self) { try await api.send(GetUser(id: 7)) }
    #expect(stub.exchanges.map(\.outcome) == [.unmatched])
  }

  @Test(
    "A call that no rule matches fails with an error that names the full path as sent and the rules")
  func unmatched() async throws {
    let api = Client(environment: Environment(baseURL: "https://example.test/v1"), transport: stub)
    let call = { try await api.send(Request<User>.get("/users/\(1)", query: ["key": "s3cr3t"])) }
    let none = try #require(await #expect(throws: CallError.self) { try await call() })
    #expect(none.code == .invalidRequest && none.requestState == .notSent)
    #expect(none.detail == "no reply is stubbed for GET /v1/users/1?key=██; nothing is stubbed")
    stub.on(.get, "/users/1", reply: .json(#"{"id":1}"#))
    stub.on(GetUser.self, reply: .json(#"{"id":1}"#))
    stub.on(template: "GET /users", reply: .json("[]"))
    stub.on(where: { _, _ in false }, reply: { _ in .status(200) })
    let error = try #require(await #expect(throws: CallError.self) { try await call() })
    #expect(
      error.detail
        == "no reply is stubbed for GET /v1/users/1?key=██; stubbed: requests that a closure selects, "
        + "the template GET /users, calls of GetUser, GET /users/1")
  }

  @Test("The error for an unmatched request lists a bounded number of rules")
  func manyRules() async throws {
    for number in 0..<20 { stub.on(.get, "/other/\(number)", reply: .status(200)) }
    let error = try #require(await #expect(throws: CallError.self) { try await api.send(GetUser(id: 1)) })
    #expect(error.detail.contains("GET /other/19, ") && error.detail.hasSuffix("GET /other/10 and 10 more"))
  }

  @Test("A stub rule for an endpoint type matches all of its values")
  func endpointType() async throws {
    stub.on(GetUser.self, reply: .encoded(User(id: 1)))
    #expect(try await api.send(GetUser(id: 5)) == User(id: 1))
    await #expect(throws: CallError.self) { try await api.send(Request<User>.get("/users/\(5)")) }
  }

  @Test("A stub rule for a template returns its replies in order and repeats the last")
  func sequence() async throws {
    stub.on(template: "GET /users/{}", replies: [.status(503), .encoded(User(id: 2))])
    await #expect(throws: CallError.self) { try await api.send(GetUser(id: 1)) }
    #expect(try await api.send(GetUser(id: 1)) == User(id: 2))
    #expect(try await api.send(GetUser(id: 1)) == User(id: 2))
    #expect(stub.exchanges.map(\.status) == [503, 200, 200])
  }

  @Test("A stub rule with failing exhaustion refuses requests after its last reply")
  func exhausted() async throws {
    stub.on(GetUser.self, replies: [.encoded(User(id: 2))], whenExhausted: .fail)
    _ = try await api.send(GetUser(id: 1))
    let error = try #require(await #expect(throws: CallError.self) { try await api.send(GetUser(id: 1)) })
    #expect(error.detail.contains("used up"))
  }

  @Test("The newest of several matching stub rules is used")
  func newest() async throws {
    stub.on(GetUser.self, reply: .encoded(User(id: 1)))
    stub.onAny(reply: .encoded(User(id: 2)))
    #expect(try await api.send(GetUser(id: 9)) == User(id: 2))
  }

  @Test("A stub rule's closure receives the request with its content and returns the reply")
  func function() async throws {
    stub.on(
      where: { request, context in request.head.method == .post && context.call.tags.contains("echo") },
      reply: { .text($0.text.uppercased()) })
    let echo = Request<String>.post("/echo", content: .text("hello")).tag("echo")
    #expect(try await api.send(echo) == "HELLO")
    await #expect(throws: CallError.self) { try await api.send(Request<String>.post("/echo", content: .text("hello"))) }
  }

  @Test("A stub's failure reaches the call with its code and request state")
  func failure() async throws {
    stub.on(.get, "/down", reply: .failure(TransportError(.connectionFailed, requestState: .notSent)))
    let error = try #require(
      await #expect(throws: CallError.self) { try await api.send(Request<String>.get("/down")) })
    #expect(error.code == .connectionFailed)
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.first?.outcome == .failed)
  }

  @Test("Responses to HEAD, 204 and 304 have no content", arguments: [200, 204, 304])
  func noContent(status: Int) async throws {
    stub.onAny(reply: .status(status, content: "text"))
    let request = Request<String>.method(status == 200 ? .head : .get, "/").accepting(.any)
    #expect(try await api.send(request) == "")
  }
}
