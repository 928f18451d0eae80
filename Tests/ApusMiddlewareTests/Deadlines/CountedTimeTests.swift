import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

/// Tests that every wait of a call counts toward its deadline.
@Suite("Waiting times that count toward the deadline of a call")
struct CountedTimeTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport()

  /// Returns a client with a timeout of 30 seconds.
  private func client(_ customize: @escaping (inout Pipeline) -> Void) -> TestClient {
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.settings.runtime.random = { 0x8000_0000_0000_0000 }
    client.timeout = .seconds(30)
    client.customize = customize
    return client
  }

  @Test("The time in the queue counts toward the deadline of a call")
  func queue() async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204).waiting(for: gate))
    let scheduler = Scheduler(ConcurrencyLimits(global: 1, perOrigin: 1))
    let api = client { $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling)) }.over(stub)
    let running = Task { try await api.send(.ping.timeout(.seconds(300))) }
    try await gate.waitForArrivals(1)
    async let outcome = failure { try await api.send(.ping) }
    try await waitWhile(scheduler.queuedCount == 0)
    clock.advance(by: .seconds(30))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect(error.detail.contains("was queued"))
    #expect(error.trace.duration == .seconds(30))
    gate.open()
    try await running.value
  }

  @Test("The delay between two attempts counts toward the deadline of a call")
  func backOff() async throws {
    let busy = StubReply.status(503, fields: [.retryAfter: "3"]).after(.seconds(25))
    stub.on(.get, "/v1/ping", replies: [busy, .stalled])
    let api = client { $0.insert(RetryMiddleware(.app), .after(.retry)) }.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    // The sleepers are the timer and the server's delay; later, the retry delay of 3.15 seconds replaces the latter.
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(25))
    try await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(3150))
    try await stub.waitForExchanges(2)
    clock.advance(by: .milliseconds(1850))
    let error = try #require(await outcome)
    #expect(error.cancellation == .deadline(.awaitingHead) && error.requestState == .maybeSent)
    #expect(error.failedAttempts.map(\.cause) == [.status(503)])
    #expect(error.trace.duration == .seconds(30))
  }

  @Test("A token refresh counts toward the deadline of a call")
  func refresh() async throws {
    let gate = Gate()
    let bench = RefreshBench(gate: gate)
    bench.expire()
    var limited = client { _ in }
    limited.settings.runtime.clock = bench.clock
    limited.environment.authentication = .bearer(bench.tokens, limit: .seconds(300)) {
      try await $0.send(.newTokens(for: $0.token).timeout(.seconds(300)))
    }
    let api = limited.over(bench.stub)
    async let outcome = failure { try await api.send(Request<String>.get("/ping")) }
    try await gate.waitForArrivals(1)
    try await waitWhile(!api.calls.isWaitingForCredentials(1))
    bench.clock.advance(by: .seconds(30))
    let error = try #require(await outcome)
    #expect(error.cancellation == .deadline(.waiting))
    let limit = "exceeded the default limit of 30 s; change it with .timeout(_:)"
    #expect(error.detail == "waited for new credentials; \(limit)")
    #expect(error.trace.duration == .seconds(30))
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
  }

  @Test("Redirects count toward the deadline of a call")
  func redirects() async throws {
    stub.on(.get, "/v1/ping", reply: .status(302, fields: [.location: "/v1/next"]).after(.seconds(20)))
    stub.on(.get, "/v1/next", reply: .status(204).after(.seconds(20)))
    let api = client { $0.insert(RedirectMiddleware(), .after(.redirects)) }.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    for (count, seconds) in [(1, 20), (2, 10)] {
      try await stub.waitForExchanges(count)
      try await clock.waitForSleepers(2)
      clock.advance(by: .seconds(seconds))
    }
    let error = try #require(await outcome)
    #expect(error.cancellation == .deadline(.awaitingHead))
    #expect(error.trace.duration == .seconds(30))
  }

  @Test("The wait for the rate limit counts toward the deadline, and a call that would be late is refused immediately")
  func rateLimit() async throws {
    stub.onAny(reply: .status(204))
    let api = client { $0.insert(RateLimiter(RateLimit(1, per: .seconds(20))), .after(.rateLimit)) }.over(stub)
    try await api.send(.ping)
    let second = Task { try await api.send(.ping) }
    try await clock.waitForSleepers(2)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused && error.retryAfter == .seconds(40))
    clock.advance(by: .seconds(20))
    try await second.value
  }
}
