import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Logging
import Testing

@Suite("Request logging")
struct RequestLoggingTests {
  private let log = LogRecorder()
  private let clock = ManualClock(.manual)

  private func client(_ logging: RequestLogging? = nil, baseURL: BaseURL = "https://api.example.com/v1") -> TestClient {
    var client = TestClient(baseURL)
    client.settings.runtime.clock = clock
    client.settings.observers = [logging ?? RequestLogging(log.logger())]
    return client
  }

  @Test("A call is logged with two lines: id, method and URL, then also status and duration")
  func twoLines() async throws {
    let clock = clock
    let stub = StubTransport()
    stub.on { _, _ in
      true
    } reply: { _ in
      clock.advance(by: .milliseconds(1500))
      return .json("7")
    }
    let request = Request<Int>.get("/users/\(42, "id")/age", query: ["a": 1]).id("age", onDuplicate: .allow)
    _ = try await client().over(stub).send(request)
    let lines = log.lines.all
    #expect(lines.map(\.message) == ["request", "response"])
    #expect(lines.map(\.level) == [.info, .info])
    let head = ["call": "age", "method": "GET", "url": "https://api.example.com/v1/users/{id}/age"]
    #expect(lines[0].metadata == head)
    #expect(lines[1].metadata == head.merging(["status": "200", "duration": "1.5 seconds"]) { $1 })
  }

  @Test("The last line of a failed call is a warning with the error's code")
  func failed() async throws {
    let offline = TransportError(.offline, requestState: .notSent)
    for (answer, code, status) in [
      (StubReply.failure(offline), "offline", nil), (.status(503), "rejected", "503"),
      (.json(#"{"wrong":1}"#), "decoding", "200"),
    ] as [(StubReply, String, String?)] {
      let log = LogRecorder()
      let api = client(RequestLogging(log.logger())).over(StubTransport.answering(answer))
      _ = await failure { try await api.send(Request<Int>.get("/a")) }
      #expect(log.lines.all.map(\.message) == ["request", "failed"])
      #expect(log.lines.all.last?.level == .warning)
      #expect(log.lines.all.last?.metadata["error"] == code)
      #expect(log.lines.all.last?.metadata["status"] == status)
    }
  }

  @Test("A timeout is logged with its phase")
  func timedOut() async throws {
    let stub = StubTransport.answering(.stalled)
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping.timeout(.seconds(5))) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    _ = await outcome
    let last = try #require(log.lines.all.last)
    #expect(last.metadata["error"] == "timeout")
    #expect(last.metadata["phase"] == "awaitingHead")
    #expect(last.metadata["duration"] == "5.0 seconds")
    #expect(last.level == .warning)
  }

  @Test("A cancelled call is not logged as a warning")
  func cancelled() async throws {
    let stub = StubTransport.answering(.stalled)
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    api.calls.cancelAll()
    _ = await outcome
    #expect(log.lines.all.last?.metadata["error"] == "cancelled")
    #expect(log.lines.all.last?.level == .info)
  }

  @Test("A call whose request cannot be created has only a last line")
  func invalid() async throws {
    let api = client().over(StubTransport.answering())
    _ = await failure { try await api.send(.get("/a/\("..")")) }
    #expect(log.lines.all.map(\.message) == ["failed"])
    #expect(log.lines.all[0].metadata["error"] == "invalidRequest")
    #expect(log.lines.all[0].metadata["url"] == "https://api.example.com/v1/a/{}")
  }

  @Test("A malformed base URL, which may contain a password, is not logged")
  func malformedBaseURL() async throws {
    let baseURL = BaseURL(stringLiteral: "https://user:\(sentinel)@example.com")
    _ = await failure { try await client(baseURL: baseURL).over(StubTransport.answering()).send(.ping) }
    #expect(log.lines.all.map { $0.metadata["url"] } == ["/ping"])
    #expect(!log.lines.all.contains { $0.text.contains(sentinel) })
  }

  @Test("Paths are logged as sent if the app enables this, with the query's values masked")
  func shownPaths() async throws {
    let api = client(RequestLogging(log.logger(), showsPaths: true)).over(StubTransport.answering())
    try await api.send(.get("/users/\(42)", query: ["token": sentinel]))
    #expect(log.lines.all.last?.metadata["url"] == "https://api.example.com/v1/users/42?token=██")
  }

  @Test("The app sets the level of ordinary lines; failures are logged at least as warnings")
  func levels() async throws {
    let stub = StubTransport.answering(.status(500))
    _ = await failure { try await client(RequestLogging(log.logger(), level: .error)).over(stub).send(.ping) }
    #expect(log.lines.all.map(\.level) == [.error, .error])
  }

  @Test("A logger for warnings gets only warnings")
  func filtered() async throws {
    let logging = RequestLogging(log.logger(level: .warning))
    try await client(logging).over(StubTransport.answering()).send(.ping)
    #expect(log.lines.all.isEmpty)
    _ = await failure { try await client(logging).over(StubTransport.answering(.status(500))).send(.ping) }
    #expect(log.lines.all.map(\.message) == ["failed"])
  }

  @Test("No call is logged by default, and creating a message without sending it is never logged")
  func off() async throws {
    var quiet = client()
    quiet.settings.observers = []
    try await quiet.over(StubTransport.answering()).send(.ping)
    _ = try await client().over(StubTransport.answering()).message(for: .ping)
    #expect(log.lines.all.isEmpty)
  }

  @Test("RequestLogging never logs content or fields")
  func noContent() async throws {
    let api = client().over(
      StubTransport.answering(.json(#"{"password":"\#(sentinel)"}"#, fields: [.server: sentinel])))
    try await api.send(.post("/login", content: .json(["password": sentinel])).field("X-Key", sentinel))
    #expect(log.lines.all.count == 2)
    #expect(!log.lines.all.contains { $0.text.contains(sentinel) })
  }
}
