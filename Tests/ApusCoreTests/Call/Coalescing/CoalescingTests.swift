import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

private struct User: Codable, Sendable, Equatable { var id: Int }

private enum Level: ContextKey { static var defaultValue: Int { 0 } }
private enum Hook: ContextKey { static var defaultValue: (@Sendable () -> Void)? { nil } }
private enum Urgency: ContextKey {
  static var defaultValue: Int { 0 }
  static var affectsCoalescing: Bool { false }
}

@Suite("Coalesced calls")
struct CoalescingTests {
  /// A middleware that sends a request to another URL, as a redirect does.
  private struct Moving: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var request = request
      request.head.path = "/moved/list"
      return try await next(request, context: context)
    }
  }

  @Test("Every coalesced call receives the URL from which the shared response came")
  func url() async throws {
    let bench = CoalescingBench(middlewares: [(Moving(), .coalescing)])
    let calls = (0..<2).map { _ in
      Task { try await bench.api.response(to: Request<String>.get("/list").coalesced()).url }
    }
    try await bench.waitForJoined(1)
    bench.gate.open()
    for call in calls { #expect(try await call.value == "https://x.test/moved/list") }
  }

  private let bench = CoalescingBench()
  private var gate: Gate { bench.gate }

  // MARK: Sharing

  @Test("Equal calls share one exchange, and each has its own trace and id")
  func oneExchange() async throws {
    let calls = try await bench.share(Array(repeating: .shared, count: 20))
    let response = Task { [bench] in try await bench.api.response(to: Request<String>.shared) }
    try await bench.waitForJoined(20)
    #expect(bench.api.calls.count == 21)
    #expect(Set(bench.api.calls.all.map(\.id)).count == 21)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    let last = try await response.value
    #expect(last.value == "ok" && last.head.status == .ok)
    #expect(last.trace.events.map(\.kind).contains { if case .coalesced = $0 { true } else { false } })
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    #expect(bench.log.ends.map(\.kind) == Array(repeating: .succeeded, count: 21))
    #expect(bench.isClean)
  }

  @Test("A failure or a rejection reaches every coalesced call")
  func failures() async throws {
    let broken = StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent))
    for (answer, code) in [(broken, CallError.Code.connectionLost), (.status(404), .rejected)] {
      let bench = CoalescingBench()
      bench.stub.onAny(reply: answer.waiting(for: bench.gate))
      let calls = try await bench.share(Array(repeating: .shared, count: 3))
      bench.gate.open()
      for call in calls { #expect(await call.value.error?.code == code) }
      #expect(bench.stub.exchanges.count == 1 && bench.isClean)
    }
  }

  @Test("A call without steps does not share an exchange with steps, which may refuse it at once")
  func steps() async throws {
    struct Refused: Error {}
    let steps = SharedExchangeSteps(begin: { throw Refused() }, end: { _ in })
    let first = Request<String>.shared.setting(SharedExchangeKey.self, steps)
    let calls = [first, first, .shared].map { request in
      Task { [bench] in await failure { try await bench.api.send(request) } }
    }
    try await bench.stub.waitForExchanges(1)
    gate.open()
    for call in calls.prefix(2) { #expect(await call.value != nil) }
    #expect(await calls[2].value == nil)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("Calls of different types share an exchange and decode the response separately; one call may fail")
  func ownDecoding() async throws {
    bench.stub.onAny(reply: .json(#"{"id":7}"#).waiting(for: gate))
    let user = bench.begin(Request<User>.get("/user").coalesced())
    try await gate.waitForArrivals(1)
    let wrong = bench.begin(Request<[User]>.get("/user").coalesced())
    try await bench.waitForJoined(1)
    gate.open()
    #expect(try await user.value.get() == User(id: 7))
    #expect(await wrong.value.error?.code == .decoding)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test(
    "Only calls with safe methods share an exchange", arguments: ["GET", "HEAD", "OPTIONS", "QUERY", "POST", "DELETE"])
  func methods(token: String) async throws {
    bench.stub.onAny(reply: .status(204).waiting(for: gate))
    let method = try #require(HTTPRequest.Method(token))
    let request = Request<Void>(method: method, path: "/user", mapping: .empty).coalesced()
    let isSafe = !["POST", "DELETE"].contains(token)
    let calls = [bench.begin(request), bench.begin(request)]
    if isSafe { try await bench.waitForJoined(1) } else { try await gate.waitForArrivals(2) }
    gate.open()
    for call in calls { #expect(await call.value.error == nil) }
    #expect(bench.stub.exchanges.count == (isSafe ? 1 : 2))
  }

  @Test("QUERY calls share an exchange only if their content is equal byte for byte")
  func contents() async throws {
    func query(_ text: String) -> Request<String> {
      Request<String>.query("/user", content: .text(text)).coalesced()
    }
    // Two texts of one length with the same first kilobyte.
    let (first, second) = (String(repeating: "a", count: 1000) + "b", String(repeating: "a", count: 1000) + "c")
    let calls = [first, second, first, second].map { bench.start(query($0)) }
    try await gate.waitForArrivals(2)
    try await bench.waitForJoined(2)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.map(\.text).sorted() == [first, second])
  }

  @Test(
    "Calls with different ids, deadlines, trace fields and settings that do not affect coalescing share an exchange")
  func ownMatters() async throws {
    let requests: [Request<String>] = [
      .shared, .shared.id("a", onDuplicate: .allow), .shared.timeout(.seconds(9)), .shared.field("traceparent", "00-1"),
      .shared.field("X-Request-Id", "7"), .shared.setting(Urgency.self, 3), .shared.accepting(.any),
    ]
    let calls = try await bench.share(requests)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test(
    "Calls with a different target, field, tag, limit or setting, or with a value that cannot be compared, do not share an exchange"
  )
  func differences() async throws {
    let requests: [Request<String>] = [
      .shared, .get("/user?a=1").coalesced(), .get("/users").coalesced(), .shared.field("Accept-Language", "de"),
      .shared.tag("images"), .shared.contentLimit(99), .shared.setting(Level.self, 1), .shared.setting(Level.self, 2),
      .shared.setting(Hook.self, {}), .shared.setting(Hook.self, {}), .get("/user"), .shared.coalesced(false),
    ]
    let calls = requests.map { bench.start($0) }
    try await gate.waitForArrivals(requests.count)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.joined == 0)
  }

  @Test("Calls of different principals or environments do not share an exchange")
  func accounts() async throws {
    let principal = Mutex<UInt64?>(1)
    var environment = Environment(baseURL: "https://x.test")
    environment.values[CallBinderKey.self] = { _, _ in principal.withLock { $0 } }
    bench.api.use(environment)
    var calls = [bench.start(.shared)]
    let others: [UInt64?] = [2, nil, 1]
    for (index, other) in others.enumerated() {
      try await gate.waitForArrivals(index + 1)
      // For the last call, the client switches to another environment with equal values.
      if index == 2 { bench.api.use(environment) }
      principal.withLock { $0 = other }
      calls.append(bench.start(.shared))
    }
    try await gate.waitForArrivals(4)
    calls.append(bench.start(.shared))
    try await bench.waitForJoined(1)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.count == 4)
  }

  @Test("A client can coalesce every call that does not opt out")
  func clientWide() async throws {
    let bench = CoalescingBench { $0.coalesces = true }
    let calls = try await bench.share([Request<String>.get("/user"), .get("/user"), .shared])
    let alone = bench.start(Request<String>.get("/user").coalesced(false))
    let posts = (0..<2).map { _ in bench.start(Request<String>.post("/user")) }
    try await bench.gate.waitForArrivals(4)
    bench.gate.open()
    for call in calls + [alone] + posts { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.count == 4)
  }

  @Test("Streamed calls never share an exchange, and describing a message sends no request")
  func streamed() async throws {
    _ = try await bench.api.message(for: Request<String>.shared)
    let calls = (0..<2).map { _ in
      Task { [bench] in try await bench.api.withResponse(to: Request<String>.shared) { try await $0.collect().count } }
    }
    try await gate.waitForArrivals(2)
    gate.open()
    for call in calls { #expect(try await call.value == 2) }
    #expect(bench.stub.exchanges.count == 2 && bench.joined == 0)
  }
}
