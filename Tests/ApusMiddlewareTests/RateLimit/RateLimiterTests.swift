import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Rate limiter: whole calls")
struct RateLimiterTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport.answering()

  private func api(_ limiter: RateLimiter = RateLimiter(.perSecond(2, burst: 2)), timeout: Duration? = nil) -> Client {
    var client = TestClient()
    client.timeout = timeout
    client.settings.runtime.clock = clock
    client.customize = { $0.insert(limiter, .after(.rateLimit)) }
    return client.over(stub)
  }

  @Test("Calls beyond the rate limit pass one by one as tokens are refilled")
  func pace() async throws {
    let api = api()
    for _ in 0..<2 { try await api.send(.ping) }
    let tasks = (0..<3).map { _ in Task { try await api.send(.ping) } }
    for count in 3...5 {
      try await clock.waitForSleepers(1)
      clock.advance(by: .milliseconds(500))
      try await stub.waitForExchanges(count)
    }
    for task in tasks { try await task.value }
    #expect(stub.exchanges.count == 5)
    #expect(clock.now == MonotonicInstant(sinceStart: .milliseconds(1500)))
  }

  @Test("A call that would pass the rate limit after its deadline is refused immediately, with its expected wait")
  func late() async throws {
    let api = api(timeout: .milliseconds(400))
    try await api.send(.ping)
    try await api.send(.ping)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused && error.requestState == .notSent)
    #expect(error.retryAfter == .milliseconds(500))
    #expect(error.underlying as? RateLimitRefusal == .deadlineTooNear)
    #expect(error.trace.description.contains("refused by the rate limit, tokens available in ms: 500"))
    #expect(stub.exchanges.count == 2)
  }

  @Test("Calls beyond the rate limiter's queue capacity are refused")
  func full() async throws {
    let api = api(RateLimiter(.perSecond(1), queueCapacity: 1))
    try await api.send(.ping)
    let waiting = Task { try await api.send(.ping) }
    try await clock.waitForSleepers(1)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.underlying as? RateLimitRefusal == .queueFull)
    clock.advance(by: .seconds(1))
    try await waiting.value
  }

  @Test("A cancelled rate-limited call makes room for the next call")
  func cancelled() async throws {
    let api = api(RateLimiter(.perSecond(1)))
    try await api.send(.ping)
    let first = Task { await failure { try await api.send(.ping) } }
    try await clock.waitForSleepers(1)
    let second = Task { await failure { try await api.send(.ping) } }
    first.cancel()
    #expect(await first.value?.code == .cancelled)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await second.value == nil)
    #expect(stub.exchanges.count == 2)
  }

  @Test("A 429 with Retry-After pauses all calls to its server, even without a rate limit")
  func throttled() async throws {
    let api = api(RateLimiter())
    stub.onAny(reply: .status(429, fields: [.retryAfter: "7"]))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.status == 429 && error.retryAfter == .seconds(7))
    stub.onAny(reply: .status(204))
    let waiting = Task { try await api.response(to: .ping).trace }
    try await clock.waitForSleepers(1)
    #expect(clock.nextWake == MonotonicInstant(sinceStart: .seconds(7)))
    // Shared work, and calls with a cost of 0, do not wait.
    try await api.send(.ping.setting(SharedWorkKey.self, true))
    try await api.send(.ping.rateLimit(cost: 0))
    clock.advance(by: .seconds(7))
    let trace = try await waiting.value.description
    #expect(trace.contains("queued: rate limit"))
    #expect(trace.contains("waited for the rate limit, ms: 7000"))
  }

  @Test("A server's pause is limited, and a 429 without Retry-After causes no pause")
  func ceiling() async throws {
    let api = api(RateLimiter(maximumServerDelay: .seconds(3)), timeout: .seconds(1))
    stub.onAny(reply: .status(429))
    for _ in 0..<2 { #expect(await failure { try await api.send(.ping) }?.code == .rejected) }
    stub.onAny(reply: .status(429, fields: [.retryAfter: "86400"]))
    _ = await failure { try await api.send(.ping) }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused && error.retryAfter == .seconds(3))
  }

  @Test("The cost of a call is set by its endpoint or a closure, and each origin has its own bucket")
  func costs() async throws {
    let limiter = RateLimiter(.perSecond(10, burst: 10)) { request, _ in request.target.hasSuffix("/ping") ? 5 : 1 }
    let api = api(limiter, timeout: .milliseconds(1))
    try await api.send(.ping)
    try await api.send(.ping.rateLimit(cost: 4))
    #expect(await failure { try await api.send(.ping) }?.code == .refused)
    var other = TestClient("https://other.example.com")
    other.settings.runtime.clock = clock
    other.customize = { $0.insert(limiter, .after(.rateLimit)) }
    try await other.over(stub).send(.ping)
  }
}
