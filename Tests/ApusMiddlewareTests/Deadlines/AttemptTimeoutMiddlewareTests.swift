import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The deadline of an attempt")
struct AttemptTimeoutMiddlewareTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport()

  private func client(
    timeout: Duration? = nil, customize: @escaping (inout Pipeline) -> Void = { _ in }
  ) -> Client {
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.settings.runtime.random = { 0x8000_0000_0000_0000 }
    client.timeout = timeout
    client.customize = {
      $0.insert(LeavingTime(), .after(.retry))
      $0.insert(AttemptTimeoutMiddleware(), .after(.attemptTimeout))
      customize(&$0)
    }
    return client.over(stub)
  }

  @Test("An attempt without a response ends with a timeout that names the phase, and its exchange ends")
  func stalled() async throws {
    stub.onAny(reply: .stalled)
    let api = client()
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .awaitingHead && error.requestState == .maybeSent)
    // The attempt's deadline passed, not the call's.
    #expect(error.cancellation == nil)
    #expect("\(error)".contains("no response within the attempt limit of 10 s; change it with .attemptTimeout(_:)"))
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(api.calls.isEmpty)
  }

  @Test("Each attempt has its own timeout")
  func triedAgain() async throws {
    stub.on(.get, "/v1/ping", replies: [.stalled, .status(204).after(.seconds(9))])
    let api = client { $0.insert(RetryMiddleware(.app), .after(.retry)) }
    let call = Task { try await api.response(to: .ping).trace }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    // The sleeper is the retry delay, half of 200 ms.
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(100))
    try await stub.waitForExchanges(2)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(9))
    let failed = try await call.value.failedAttempts
    #expect(failed.map(\.cause) == [.failed(.timeout, .maybeSent)])
    #expect(failed.map(\.duration) == [.seconds(10)])
  }

  @Test("An earlier deadline of the call ends the call", arguments: [4, 10])
  func total(seconds: Int) async throws {
    stub.onAny(reply: .stalled)
    let api = client(timeout: .seconds(seconds)) { $0.insert(RetryMiddleware(.app), .after(.retry)) }
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(seconds))
    let error = try #require(await outcome)
    #expect(error.cancellation == .deadline(.awaitingHead) && error.failedAttempts.isEmpty)
  }

  @Test("The attempt timeout ends at the response head")
  func content() async throws {
    let gate = Gate()
    stub.onAny(reply: .pieces(["a", "b"], gate: gate))
    let api = client()
    let call = Task { try await api.send(Request<String>.get("/text")) }
    try await gate.waitForArrivals(1)
    clock.advance(by: .seconds(60))
    gate.open()
    #expect(try await call.value == "ab")
  }

  @Test("An endpoint's attempt timeout replaces the default, shorter or longer", arguments: [3, 60])
  func own(seconds: Int) async throws {
    stub.onAny(reply: .stalled)
    let api = client()
    async let outcome = failure { try await api.send(.ping.attemptTimeout(.seconds(seconds))) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    #expect(clock.nextWake == clock.now.advanced(by: .seconds(seconds)))
    clock.advance(by: .seconds(seconds))
    #expect(await outcome?.code == .timeout)
  }

  @Test("An endpoint without an attempt timeout has no timer")
  func unlimited() async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204).waiting(for: gate))
    let api = client()
    async let outcome = failure { try await api.send(.ping.attemptTimeout(nil)) }
    try await gate.waitForArrivals(1)
    #expect(clock.sleepers == 0)
    gate.open()
    #expect(await outcome == nil)
  }

  @Test("With a non-positive attempt timeout nothing is sent", arguments: [Duration.zero, .seconds(-1)])
  func noTime(limit: Duration) async throws {
    stub.onAny(reply: .status(204))
    let error = try #require(await failure { try await client().send(.ping.attemptTimeout(limit)) })
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("Creating a message without sending it has no attempt timeout")
  func described() async throws {
    let message = try await client().message(for: .ping.attemptTimeout(.zero))
    #expect(message.target == "/v1/ping")
  }

  @Test("The default attempt timeout does not apply to long content or a slow head; an endpoint's own timeout does")
  func longContent() async throws {
    let seen = Log<MonotonicInstant?>()
    let api = client { $0.insert(Looking(seen: seen), .after(.rateLimit)) }
    stub.onAny(reply: .status(204))
    let mebibyte = Data(count: 1 << 20)
    let stream = ContentStream(isReplayable: false) { { nil } }
    let patient = Request<Void>.ping.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(120)))
    try await api.send(Request<Void>.post("/up", content: .bytes(mebibyte)))
    try await api.send(Request<Void>.post("/up", content: .bytes(mebibyte + [0])))
    try await api.send(Request<Void>.post("/up", content: .stream(stream)))
    try await api.send(patient)
    try await api.send(patient.attemptTimeout(.seconds(3)))
    #expect(seen.all.map { $0?.sinceStart } == [.seconds(10), nil, nil, nil, .seconds(3)])
  }

  @Test("Waiting for a permit does not count toward the attempt timeout")
  func permits() async throws {
    let gate = Gate()
    stub.on(.get, "/v1/slow", reply: .status(204).waiting(for: gate))
    stub.on(.get, "/v1/ping", reply: .status(204))
    let scheduler = Scheduler(ConcurrencyLimits(global: 1, perOrigin: 1))
    let api = client { $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling)) }
    let slow = Task { try await api.send(Request<Void>.get("/slow").attemptTimeout(nil)) }
    try await gate.waitForArrivals(1)
    let waiting = Task { try await api.send(.ping) }
    try await waitWhile(scheduler.queuedCount == 0)
    clock.advance(by: .seconds(60))
    gate.open()
    try await slow.value
    try await waiting.value
  }

  @Test("Every redirect counts toward the attempt timeout, and the error is maybeSent after an earlier hop")
  func redirects() async throws {
    stub.on(.get, "/v1/ping", reply: .status(302, fields: [.location: "/v1/next"]).after(.seconds(6)))
    stub.on(.get, "/v1/next", reply: .status(204).after(.seconds(6)))
    let api = client { $0.insert(RedirectMiddleware(), .after(.redirects)) }
    async let outcome = failure { try await api.send(.ping) }
    for (count, seconds) in [(1, 6), (2, 4)] {
      try await stub.waitForExchanges(count)
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(seconds))
    }
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.requestState == .maybeSent)
  }

  @Test("A wait for the rate limit beyond the attempt timeout is refused immediately, and the error has the wait")
  func rateLimit() async throws {
    stub.onAny(reply: .status(204))
    let api = client { $0.insert(RateLimiter(.perSecond(1)), .after(.rateLimit)) }
    try await api.send(.ping)
    let error = try #require(await failure { try await api.send(.ping.attemptTimeout(.milliseconds(400))) })
    #expect(error.code == .refused && error.retryAfter == .seconds(1))
    let inTime = Task { try await api.send(.ping) }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    try await inTime.value
  }
}

/// A middleware in place of the retry middleware, which declares that another attempt may follow each attempt.
struct LeavingTime: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.leavesTimeForRetry = true
    return try await next(request, context: context)
  }
}

/// A middleware that records the deadline of attempts.
private struct Looking: Middleware {
  let seen: Log<MonotonicInstant?>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    seen.add(context.attemptDeadline)
    return try await next(request, context: context)
  }
}
