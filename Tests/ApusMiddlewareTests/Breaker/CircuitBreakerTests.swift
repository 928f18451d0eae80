import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("Circuit breaker: whole calls")
struct CircuitBreakerTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport()
  private let changes = Log<BreakerChange>()
  private let breaker: CircuitBreaker
  private let origin = BreakerScope(Origin(scheme: "https", host: "api.example.com", port: 443))
  /// The scope of the endpoint `ping`.
  private let scope = BreakerScope(Origin(scheme: "https", host: "api.example.com", port: 443), .get, "/ping")

  init() {
    breaker = CircuitBreaker(onChange: changes.add)
  }

  private var api: Client {
    var client = TestClient()
    client.settings.runtime = Runtime(clock: clock, random: { 0 })
    client.customize = { [breaker] in $0.insert(breaker, .after(.breaker)) }
    return client.over(stub)
  }

  private func open(_ api: Client, with answer: StubReply = .status(503)) async {
    stub.onAny(reply: answer)
    for _ in 0..<5 { _ = await failure { try await api.send(.ping) } }
  }

  @Test("An open circuit refuses calls until one trial request succeeds")
  func wholeLife() async throws {
    let api = api
    await open(api)
    #expect(breaker.status(of: scope) == .open(until: clock.now.advanced(by: .seconds(5))))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused)
    #expect(error.requestState == .notSent)
    #expect(error.retryAfter == .seconds(5))
    let rejection = try #require(error.underlying as? BreakerRefusal)
    #expect(rejection.scope == scope && rejection.failure == .status(503))
    #expect(rejection.description == "the circuit of https://api.example.com (GET /ping) is open after status 503")
    #expect(error.trace.description.contains("circuit is open, for ms: 5000"))
    #expect(stub.exchanges.count == 5)
    clock.advance(by: .seconds(5))
    stub.onAny(reply: .status(204))
    let answer = try await api.response(to: .ping)
    #expect(answer.trace.description.contains("circuit closed"))
    #expect(breaker.statuses == [origin: .closed, scope: .closed])
    #expect(changes.all.map(\.status) == [.open(until: MonotonicInstant(sinceStart: .seconds(5))), .halfOpen, .closed])
    try await api.send(.ping)
  }

  @Test("A 503 with Retry-After sets the time for which the circuit is open")
  func retryAfter() async throws {
    let api = api
    await open(api, with: .status(503, fields: [.retryAfter: "20"]))
    #expect(await failure { try await api.send(.ping) }?.retryAfter == .seconds(20))
  }

  /// A reply that a server sends ten times, and the circuit that is open afterwards.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let answer: StubReply
    /// The open circuit; `nil` if no circuit is open.
    let opens: BreakerGrouping?

    var testDescription: String { name }
  }

  static let good = [400, 401, 404, 408, 422, 429, 501].map { Row(name: "\($0)", answer: .status($0), opens: nil) }
  static let bad = [500, 502, 503, 504].map { Row(name: "\($0)", answer: .status($0), opens: .endpoint) }
  static let errors = [
    error(.offline, .notSent, nil), error(.refused, .notSent, nil), error(.invalidRequest, .notSent, nil),
    error(.contentTooLarge, .responded, nil), timeout(in: .waiting, .notSent, nil),
    error(.malformedResponse, .responded, nil),
    error(.hostNotFound, .notSent, .origin), error(.connectionFailed, .notSent, .origin),
    error(.tls, .notSent, .origin), timeout(in: .connecting, .notSent, .origin),
    error(.connectionLost, .maybeSent, .endpoint),
    // The server had no time to respond.
    timeout(in: .connecting, .maybeSent, nil), timeout(in: .awaitingHead, .maybeSent, nil),
    timeout(in: .receiving, .responded, nil),
    Row(name: "another error", answer: .failure(CancellationError()), opens: nil),
  ]
  static let others = [TransportError.Source.content, .credentials, .trafficControl].flatMap { subject in
    [
      error(.connectionLost, .maybeSent, nil, of: subject), error(.malformedResponse, .responded, nil, of: subject),
      error(.connectionFailed, .notSent, nil, of: subject), timeout(in: .connecting, .notSent, nil, of: subject),
    ]
  }

  private static func error(
    _ code: CallError.Code, _ state: RequestState, _ opens: BreakerGrouping?,
    of source: TransportError.Source = .server
  ) -> Row {
    row(TransportError(code, requestState: state).attributed(to: source), opens)
  }

  private static func timeout(
    in phase: CallPhase, _ state: RequestState, _ opens: BreakerGrouping?, of source: TransportError.Source = .server
  ) -> Row {
    row(TransportError(.timeout, in: phase, requestState: state).attributed(to: source), opens)
  }

  private static func row(_ error: TransportError, _ opens: BreakerGrouping?) -> Row {
    let phase = error.phase.map { " while \($0)" } ?? ""
    return Row(name: "\(error)\(phase) of \(error.source)", answer: .failure(error), opens: opens)
  }

  @Test(
    "The outcome of an exchange is a failure of the endpoint, a failure of the origin, or no failure",
    arguments: good + bad + errors + others)
  func counted(row: Row) async throws {
    stub.onAny(reply: row.answer)
    let api = api
    for _ in 0..<10 { _ = await failure { try await api.send(.ping) } }
    #expect((breaker.status(of: scope) == .closed) == (row.opens != .endpoint))
    #expect((breaker.status(of: origin) == .closed) == (row.opens != .origin))
  }

  @Test("After a cancelled trial request the next call is the trial")
  func cancelledProbe() async throws {
    let api = api
    await open(api)
    clock.advance(by: .seconds(5))
    let gate = Gate()
    stub.onAny(reply: .status(204).waiting(for: gate))
    let probe = Task { await failure { try await api.send(.ping) } }
    try await gate.waitForArrivals(1)
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    probe.cancel()
    #expect(await probe.value?.code == .cancelled)
    gate.open()
    try await api.send(.ping)
    #expect(breaker.status(of: scope) == .closed)
  }

  @Test("A timeout is a failure for the breaker only if the server had enough time to respond", arguments: [1, 10])
  func deadline(tenths: Int) async throws {
    stub.onAny(reply: .stalled)
    let api = api
    let limit = Duration.milliseconds(tenths * 100)
    for number in 1...10 {
      async let outcome = failure { try await api.send(.ping.timeout(limit)) }
      try await stub.waitForExchanges(number)
      try await clock.waitForSleepers(1)
      clock.advance(by: limit)
      #expect(await outcome?.code == .timeout)
      try await stub.waitUntilIdle()
    }
    #expect((breaker.status(of: scope) == .closed) == (tenths == 1))
  }

  @Test("A deadline that passes while the call waits in the client is not counted by the breaker")
  func deadlineWhileWaiting() async throws {
    let gate = Gate()
    var client = TestClient()
    client.settings.runtime = Runtime(clock: clock, random: { 0 })
    client.customize = { [breaker] in
      $0.insert(breaker, .after(.breaker))
      $0.insert(Hold(gate: gate), .before(.transport))
    }
    let api = client.over(stub)
    for number in 1...10 {
      async let outcome = failure { try await api.send(.ping.timeout(.seconds(10))) }
      try await gate.waitForArrivals(number)
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(10))
      let error = await outcome
      #expect(error?.code == .timeout && error?.phase == .waiting)
    }
    #expect(breaker.status(of: scope) == .closed && stub.exchanges.isEmpty)
  }

  @Test("A refresh whose response cannot be read fails the waiting calls, but is not counted for their server")
  func unreadableRefresh() async throws {
    let gate = Gate()
    let bench = RefreshBench(gate: gate)
    bench.expire()
    bench.replyToRefreshes(with: .text("no tokens"))
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    client.settings.runtime = Runtime(clock: bench.clock)
    client.customize = { [breaker] in $0.insert(breaker, .after(.breaker)) }
    let api = client.over(bench.stub)
    // The timeout is too short to wait for another refresh.
    let hasty = Request<String>.get("/ping").timeout(.milliseconds(500))
    let calls = (0..<10).map { _ in Task { await failure { try await api.send(hasty) } } }
    try await gate.waitForArrivals(1)
    try await waitWhile(!api.calls.isWaitingForCredentials(10))
    gate.open()
    for call in calls { #expect(await call.value?.code == .malformedResponse) }
    #expect(breaker.status(of: scope) == .closed && bench.refreshes == 1)
  }

  @Test("Content that the app fails to produce is not counted by the breaker")
  func truncatedContent() async throws {
    let api = api
    stub.onAny(reply: .status(204))
    let content = ContentStream(isReplayable: true) { { throw OutOfPaper() } }
    for _ in 0..<10 {
      let error = await failure { try await api.send(Request<Void>.put("/ping", content: .stream(content))) }
      #expect(error?.code == .connectionLost)
    }
    #expect(breaker.status(of: scope) == .closed)
  }

  @Test("A failing endpoint does not affect calls to other endpoints")
  func oneEndpoint() async throws {
    let api = api
    await open(api)
    stub.onAny(reply: .status(204))
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    try await api.send(Request<Void>.get("/other"))
    try await api.send(Request<Void>.post("/ping"))
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    #expect(breaker.status(of: origin) == .closed)
  }

  @Test("Different path values belong to one endpoint, and a path made of values has only the origin's circuit")
  func templates() async throws {
    let api = api
    stub.onAny(reply: .status(503))
    for id in 1...5 { _ = await failure { try await api.send(Request<Void>.get("/users/\(id)")) } }
    #expect(breaker.status(of: BreakerScope(scope.origin, .get, "/users/{}")) != .closed)
    stub.onAny(reply: .status(204))
    try await api.send(.ping)
    stub.onAny(reply: .status(503))
    for path in ["a", "b", "a", "b", "a", "b"] {
      #expect(await failure { try await api.send(Request<Void>.get(.init(segments: [path]))) }?.code == .rejected)
    }
    #expect(breaker.statuses.count == 3)
    for path in ["c", "a"] { _ = await failure { try await api.send(Request<Void>.get(.init(segments: [path]))) } }
    let error = await failure { try await api.send(.ping) }
    #expect((error?.underlying as? BreakerRefusal)?.scope == origin)
  }

  @Test("Calls that use only the origin's circuit are not refused for consecutive failures of one endpoint")
  func originOnly() async throws {
    let api = api
    stub.onAny(reply: .status(503))
    for _ in 0..<10 {
      #expect(await failure { try await api.send(.ping.breaker(.origin)) }?.code == .rejected)
    }
    #expect(breaker.statuses == [origin: .closed])
  }

  @Test("Calls of all endpoints to an unreachable server are refused, and a call of any endpoint can be the trial")
  func unreachable() async throws {
    let api = api
    await open(api, with: .failure(TransportError(.connectionFailed, requestState: .notSent)))
    let error = try #require(await failure { try await api.send(Request<Void>.get("/other")) })
    let rejection = try #require(error.underlying as? BreakerRefusal)
    #expect(rejection.scope == origin && rejection.failure == .failed(.connectionFailed, .notSent))
    #expect(error.retryAfter == .seconds(5) && error.requestState == .notSent)
    clock.advance(by: .seconds(5))
    stub.onAny(reply: .status(204))
    try await api.send(Request<Void>.get("/other"))
    try await api.send(.ping)
    #expect(changes.all.map(\.scope) == [origin, origin, origin])
  }

  @Test(
    "A timeout or stall is a failure of the endpoint only after the policy's minimumTimeout",
    arguments: [0, 900, 1000])
  func minimumTimeout(milliseconds: Int) async throws {
    let gate = Gate()
    stub.onAny(
      reply: .failure(TransportError(.timeout, in: .awaitingHead, requestState: .maybeSent)).waiting(for: gate))
    let api = api
    let calls = (0..<10).map { _ in Task { await failure { try await api.send(.ping) } } }
    try await gate.waitForArrivals(10)
    clock.advance(by: .milliseconds(milliseconds))
    gate.open()
    for call in calls { #expect(await call.value?.code == .timeout) }
    #expect((breaker.status(of: scope) == .closed) == (milliseconds < 1000))
    #expect(breaker.status(of: origin) == .closed)
  }

  @Test("A group shares one circuit, and a call without circuits is never refused")
  func groups() async throws {
    let api = api
    await open(api)
    #expect(await failure { try await api.send(.ping.breaker(.group("search"))) }?.code == .rejected)
    #expect(await failure { try await api.send(.ping.breaker(.none)) }?.code == .rejected)
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    let group = BreakerScope(scope.origin, group: "search")
    #expect(breaker.status(of: group) == .closed && group.group == "search" && group.endpoint == nil)
    for _ in 0..<4 { _ = await failure { try await api.send(Request<Void>.get("/a").breaker(.group("search"))) } }
    let error = await failure { try await api.send(Request<Void>.get("/b").breaker(.group("search"))) }
    #expect((error?.underlying as? BreakerRefusal)?.scope == group)
    #expect(scope.endpoint == "GET /ping" && scope.group == nil && "\(group)" == "https://api.example.com (search)")
  }

  @Test("Shared work passes an open circuit and is not counted")
  func sharedWork() async throws {
    let api = api
    stub.onAny(reply: .status(503))
    for _ in 0..<10 { _ = await failure { try await api.send(.ping.setting(SharedWorkKey.self, true)) } }
    #expect(breaker.status(of: scope) == .closed)
    await open(api)
    #expect(await failure { try await api.send(.ping.setting(SharedWorkKey.self, true)) }?.code == .rejected)
  }

  @Test("Resetting the circuit of an endpoint or its origin closes it", arguments: [false, true])
  func byHand(isOrigin: Bool) async throws {
    let api = api
    await open(api)
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    let subject = isOrigin ? origin : scope
    breaker.reset(subject, at: clock.now)
    #expect(breaker.status(of: scope) == .closed)
    stub.onAny(reply: .status(204))
    try await api.send(.ping)
    #expect(changes.all.last.map { $0.scope == subject && $0.status == .closed } == true)
  }

  @Test("Creating a message without sending it does not affect the circuits")
  func described() async throws {
    let api = api
    await open(api)
    #expect(try await api.message(for: .ping).target == "/v1/ping")
  }
}

private struct OutOfPaper: Error {}
