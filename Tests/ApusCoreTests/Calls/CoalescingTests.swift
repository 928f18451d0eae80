import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

private struct User: Codable, Sendable, Equatable { var id: Int }

private enum Level: ContextKey { static var defaultValue: Int { 0 } }
private enum Hook: ContextKey { static var defaultValue: (@Sendable () -> Void)? { nil } }
private enum Urgency: ContextKey {
  static var defaultValue: Int { 0 }
  static var tellsCallsApart: Bool { false }
}

@Suite("Calls that are coalesced")
struct CoalescingTests {
  private let bench = CoalescingBench()
  private var gate: Gate { bench.gate }

  // MARK: What is shared

  @Test("any number of calls that ask for the same are one exchange, each with its own trace and id")
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
    #expect(last.trace.events.map(\.kind).contains { if case .joined = $0 { true } else { false } })
    #expect(bench.stub.exchanges.map(\.outcome) == [.answered])
    #expect(bench.log.ends.map(\.kind) == Array(repeating: .succeeded, count: 21))
    #expect(bench.isClean)
  }

  @Test("a failure and a refusal reach all of them")
  func failures() async throws {
    let broken = StubAnswer.failure(TransportError(.broken, requestState: .maybeSent))
    for (answer, code) in [(broken, CallError.Code.broken), (.status(404), .rejected)] {
      let bench = CoalescingBench()
      bench.stub.onAny(answer: answer.waiting(for: bench.gate))
      let calls = try await bench.share(Array(repeating: .shared, count: 3))
      bench.gate.open()
      for call in calls { #expect(await call.value.error?.code == code) }
      #expect(bench.stub.exchanges.count == 1 && bench.isClean)
    }
  }

  @Test("each decodes for itself: endpoints of different types share, and one may fail where another succeeds")
  func ownDecoding() async throws {
    bench.stub.onAny(answer: .json(#"{"id":7}"#).waiting(for: gate))
    let user = bench.begin(Request<User>.get("/user").coalesced())
    try await gate.waitForArrivals(1)
    let wrong = bench.begin(Request<[User]>.get("/user").coalesced())
    try await bench.waitForJoined(1)
    gate.open()
    #expect(try await user.value.get() == User(id: 7))
    #expect(await wrong.value.error?.code == .decoding)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("a safe method shares, any other never does", arguments: ["GET", "HEAD", "OPTIONS", "QUERY", "POST", "DELETE"])
  func methods(token: String) async throws {
    bench.stub.onAny(answer: .status(204).waiting(for: gate))
    let method = try #require(HTTPRequest.Method(token))
    let request = Request<Void>(method: method, path: "/user", mapping: .empty).coalesced()
    let isSafe = !["POST", "DELETE"].contains(token)
    let calls = [bench.begin(request), bench.begin(request)]
    if isSafe { try await bench.waitForJoined(1) } else { try await gate.waitForArrivals(2) }
    gate.open()
    for call in calls { #expect(await call.value.error == nil) }
    #expect(bench.stub.exchanges.count == (isSafe ? 1 : 2))
  }

  @Test("a QUERY shares with those of the same content, byte for byte, and with no other")
  func contents() async throws {
    func query(_ text: String) -> Request<String> {
      Request<String>.query("/user", content: .text(text)).coalesced()
    }
    // The same in their first kilobyte, and of one length.
    let (first, second) = (String(repeating: "a", count: 1000) + "b", String(repeating: "a", count: 1000) + "c")
    let calls = [first, second, first, second].map { bench.start(query($0)) }
    try await gate.waitForArrivals(2)
    try await bench.waitForJoined(2)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.map(\.text).sorted() == [first, second])
  }

  @Test("calls share whatever tells only them apart: their ids, deadlines, traces and what is said not to matter")
  func ownMatters() async throws {
    let requests: [Request<String>] = [
      .shared, .shared.id("a", whenRunning: .allow), .shared.timeout(.seconds(9)), .shared.field("traceparent", "00-1"),
      .shared.field("X-Request-Id", "7"), .shared.setting(Urgency.self, 3), .shared.accepting(.any),
    ]
    let calls = try await bench.share(requests)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("another target, field, tag, limit or setting is another exchange; what cannot be compared shares with nobody")
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

  @Test("calls of two principals do not share, and those of two environments neither")
  func accounts() async throws {
    let principal = Mutex<UInt64?>(1)
    var environment = Environment(baseURL: "https://x.test")
    environment.values[PrincipalKey.self] = { _, _ in principal.withLock { $0 } }
    bench.api.use(environment)
    var calls = [bench.start(.shared)]
    let others: [UInt64?] = [2, nil, 1]
    for (index, other) in others.enumerated() {
      try await gate.waitForArrivals(index + 1)
      // At last another environment that says the same.
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

  @Test("a client may coalesce whatever does not say otherwise")
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

  @Test("streamed calls never share, and a message that is only described is sent to nobody")
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
