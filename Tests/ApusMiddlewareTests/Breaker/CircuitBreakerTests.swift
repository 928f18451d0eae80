import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Circuit breaker: whole calls")
struct CircuitBreakerTests {
  private let clock = ManualClock()
  private let stub = StubTransport()
  private let changes = Told<BreakerChange>()
  private let breaker: CircuitBreaker
  private let scope = BreakerScope(Origin(scheme: "https", host: "api.example.com", port: 443))

  init() {
    breaker = CircuitBreaker(onChange: changes.add)
  }

  private var api: Client {
    var client = TestClient()
    client.settings.runtime = Runtime(clock: clock, random: { 0 })
    client.customize = { [breaker] in $0.insert(breaker, .after(.breaker)) }
    return client.over(stub)
  }

  private func open(_ api: Client, with answer: StubAnswer = .status(503)) async {
    stub.onAny(answer: answer)
    for _ in 0..<5 { _ = await failure { try await api.send(.ping) } }
  }

  @Test("a server that keeps failing is left alone, and asked again by one call, which opens the way for all")
  func wholeLife() async throws {
    let api = api
    await open(api)
    #expect(breaker.status(of: scope) == .open(until: clock.now.advanced(by: .seconds(5))))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .declined)
    #expect(error.requestState == .notSent)
    #expect(error.retryAfter == .seconds(5))
    #expect((error.underlying as? BreakerRejection)?.scope == scope)
    #expect(error.trace.description.contains("circuit is open, for ms: 5000"))
    #expect(stub.exchanges.count == 5)
    clock.advance(by: .seconds(5))
    stub.onAny(answer: .status(204))
    let answer = try await api.response(to: .ping)
    #expect(answer.trace.description.contains("circuit closed"))
    #expect(breaker.statuses == [scope: .closed])
    #expect(changes.all.map(\.status) == [.open(until: MonotonicInstant(sinceStart: .seconds(5))), .halfOpen, .closed])
    try await api.send(.ping)
  }

  @Test("a 503 with Retry-After sets the time")
  func retryAfter() async throws {
    let api = api
    await open(api, with: .status(503, fields: [.retryAfter: "20"]))
    #expect(await failure { try await api.send(.ping) }?.retryAfter == .seconds(20))
  }

  /// What a server does ten times, and whether the circuit is closed then.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let answer: StubAnswer
    let isClosed: Bool

    var testDescription: String { name }
  }

  static let good = [400, 401, 404, 408, 422, 429, 501].map { Row(name: "\($0)", answer: .status($0), isClosed: true) }
  static let bad = [500, 502, 503, 504].map { Row(name: "\($0)", answer: .status($0), isClosed: false) }
  static let errors = [
    error(.offline, .notSent, true), error(.declined, .notSent, true), error(.unsupported, .notSent, true),
    error(.contentTooLarge, .answered, true), error(.timedOut(.waiting), .notSent, true),
    error(.hostNotFound, .notSent, false), error(.connectionFailed, .notSent, false), error(.tls, .notSent, false),
    error(.broken, .maybeSent, false), error(.timedOut(.connecting), .notSent, false),
    error(.timedOut(.awaitingHead), .maybeSent, false), error(.malformedResponse, .answered, false),
    Row(name: "another error", answer: .failure(CancellationError()), isClosed: true),
  ]
  static let others = [TransportError.Subject.content, .credentials, .control].flatMap { subject in
    [
      error(.broken, .maybeSent, true, of: subject), error(.malformedResponse, .answered, true, of: subject),
      error(.connectionFailed, .notSent, true, of: subject),
    ]
  }

  private static func error(
    _ kind: TransportError.Kind, _ state: RequestState, _ isClosed: Bool, of subject: TransportError.Subject = .server
  ) -> Row {
    let error = TransportError(kind, requestState: state).about(subject)
    return Row(name: "\(kind) of \(subject.rawValue)", answer: .failure(error), isClosed: isClosed)
  }

  @Test("what counts as a failure of the server", arguments: good + bad + errors + others)
  func counted(row: Row) async throws {
    stub.onAny(answer: row.answer)
    let api = api
    for _ in 0..<10 { _ = await failure { try await api.send(.ping) } }
    #expect((breaker.status(of: scope) == .closed) == row.isClosed)
  }

  @Test("a probe that is cancelled lets the next call be one")
  func cancelledProbe() async throws {
    let api = api
    await open(api)
    clock.advance(by: .seconds(5))
    let gate = Gate()
    stub.onAny(answer: .status(204).waiting(for: gate))
    let probe = Task { await failure { try await api.send(.ping) } }
    try await gate.waitForArrivals(1)
    #expect(await failure { try await api.send(.ping) }?.code == .declined)
    probe.cancel()
    #expect(await probe.value?.code == .cancelled)
    gate.open()
    try await api.send(.ping)
    #expect(breaker.status(of: scope) == .closed)
  }

  @Test("a deadline that a server lets pass counts, one that had no time left for it does not", arguments: [1, 10])
  func deadline(tenths: Int) async throws {
    stub.onAny(answer: .stalled)
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

  @Test("a deadline that passes while a call waits on this side says nothing of the server")
  func deadlineWhileWaiting() async throws {
    let gate = Gate()
    var client = TestClient()
    client.settings.runtime = Runtime(clock: clock, random: { 0 })
    client.customize = { [breaker] in
      $0.insert(breaker, .after(.breaker))
      $0.insert(Waiting(gate: gate), .beforeTransport)
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

  @Test("a refresh that cannot be read fails all who wait for it, and says nothing of the server they are for")
  func unreadableRefresh() async throws {
    let gate = Gate()
    let bench = RefreshBench(gate: gate)
    bench.expire()
    bench.refuse(.text("no tokens"))
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    client.settings.runtime = Runtime(clock: bench.clock)
    client.customize = { [breaker] in $0.insert(breaker, .after(.breaker)) }
    let api = client.over(bench.stub)
    let calls = (0..<10).map { _ in Task { await failure { try await api.send(Request<String>.get("/ping")) } } }
    try await gate.waitForArrivals(1)
    while !api.calls.isWaitingForCredentials(10) { await Task.yield() }
    gate.open()
    for call in calls { #expect(await call.value?.code == .malformedResponse) }
    #expect(breaker.status(of: scope) == .closed && bench.refreshes == 1)
  }

  @Test("content that its own maker cannot make says nothing of the server")
  func tornContent() async throws {
    let api = api
    stub.onAny(answer: .status(204))
    let content = ContentStream(isReplayable: true) { { throw OutOfPaper() } }
    for _ in 0..<10 {
      let error = await failure { try await api.send(Request<Void>.put("/ping", content: .stream(content))) }
      #expect(error?.code == .broken)
    }
    #expect(breaker.status(of: scope) == .closed)
  }

  @Test("a group of endpoints has a circuit of its own, and who uses none is never refused")
  func groups() async throws {
    let api = api
    await open(api)
    #expect(await failure { try await api.send(.ping.breaker(.group("search"))) }?.code == .rejected)
    #expect(await failure { try await api.send(.ping.breaker(.none)) }?.code == .rejected)
    #expect(await failure { try await api.send(.ping) }?.code == .declined)
    #expect(breaker.status(of: BreakerScope(scope.origin, group: "search")) == .closed)
  }

  @Test("work for many others passes and is not counted")
  func sharedWork() async throws {
    let api = api
    stub.onAny(answer: .status(503))
    for _ in 0..<10 { _ = await failure { try await api.send(.ping.setting(SharedWorkKey.self, true)) } }
    #expect(breaker.status(of: scope) == .closed)
    await open(api)
    #expect(await failure { try await api.send(.ping.setting(SharedWorkKey.self, true)) }?.code == .rejected)
  }

  @Test("by hand a circuit is opened and closed")
  func byHand() async throws {
    stub.onAny(answer: .status(204))
    let api = api
    breaker.isolate(scope)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .declined && error.retryAfter == nil)
    breaker.reset(scope, at: clock.now)
    try await api.send(.ping)
    #expect(changes.all.map(\.status) == [.isolated, .closed])
  }

  @Test("a message that is only described asks nobody")
  func described() async throws {
    breaker.isolate(scope)
    #expect(try await api.message(for: .ping).target == "/v1/ping")
  }
}

/// Holds calls up ahead of their exchange.
private struct Waiting: Middleware {
  let gate: Gate

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await gate.wait()
    return try await next(request, context: context)
  }
}

private struct OutOfPaper: Error {}
