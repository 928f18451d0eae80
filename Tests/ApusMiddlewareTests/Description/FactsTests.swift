import ApusCore
import ApusMiddleware
import ApusTesting
import Logging
import Testing

@Suite("Descriptions of middlewares")
struct FactsTests {
  private func line(_ described: some SelfDescribing) -> String {
    described.facts.map(\.description).joined(separator: ", ")
  }

  @Test("Deadlines describe their limits, or that there are none")
  func deadlines() {
    #expect(TotalDeadline().facts == [.totalLimit(.seconds(30)), .setting("not while content moves", "")])
    #expect(TotalDeadline(standard: nil).facts == [.totalLimit(nil)])
    #expect(AttemptDeadline().facts == [.attemptLimit(.seconds(10))])
    #expect(AttemptDeadline(standard: nil).facts == [.attemptLimit(nil)])
  }

  @Test("Retry describes its policy and its budget")
  func retry() {
    #expect(
      line(Retry()) == "3 attempts, pauses up to 200 ms doubling to 20 s, after status 429 from 1 s, "
        + "a server's delay up to 60 s, budget 500 at 14 an attempt")
    #expect(line(Retry(.none)) == "1 attempt")
  }

  @Test("Retry describes unusual settings, too")
  func unusualRetry() {
    var policy = RetryPolicy(attempts: 5, base: .seconds(1))
    policy.serverDelay = .clamped(to: .seconds(5))
    policy.statuses = [503, 429]
    policy.repeatsUnsafe = true
    #expect(
      line(Retry(policy, budget: .unlimited)) == "5 attempts, pauses up to 1 s doubling to 20 s, "
        + "after status 429 from 1 s, a server's delay cut to 5 s, no budget, statuses 429 503, "
        + "unsafe calls where a server asks for it")
  }

  @Test("Scheduling describes its limits")
  func scheduling() {
    #expect(
      line(Scheduling()) == "5 at a time to one origin, 64 in all, streams up to the head, queue 100000, ageing 10 s")
    var limits = SchedulingLimits(total: .max, perOrigin: 0, tags: ["thumbnails": 2, "images": 4])
    limits.origins = [Origin(scheme: "https", host: "b.test", port: 443): 9]
    limits.queue = 0
    #expect(
      line(Scheduling(Scheduler(limits))) == "1 at a time to one origin, to https://b.test 9, with tag images 4, "
        + "with tag thumbnails 2, streams up to the head, queue 0, ageing 10 s")
  }

  @Test("A rate limiter describes its rate and its longest pause")
  func rateLimiter() {
    #expect(line(RateLimiter()) == "what servers ask for, queue 1000, a server's pause up to 60 s")
    #expect(
      line(RateLimiter(.perSecond(10, burst: 20), capacity: 5, longestPause: .seconds(1)))
        == "1 request every 100 ms after 20 at once, queue 5, a server's pause up to 1 s")
  }

  @Test("A breaker describes when it opens, and for how long")
  func breaker() {
    #expect(
      line(CircuitBreaker(.server)) == "opens at 0.1 failed of at least 100 in 30 s, opens after 5 failures in a row, "
        + "a circuit for each endpoint and one for each origin, stays open 5 s, at most 60 s")
    var policy = BreakerPolicy(minimum: 0, consecutive: 0)
    policy.countsThrottling = true
    #expect(CircuitBreaker(policy).facts.contains(.failureRatio(0.5, minimum: 1, window: .seconds(30))))
    #expect(CircuitBreaker(policy).facts.contains(.failuresInARow(1)))
    #expect(CircuitBreaker(policy).facts.contains(.setting("counts 429", "")))
  }

  @Test("Redirects describe their limits and hosts")
  func redirects() {
    #expect(line(Redirects()) == "up to 10, never from https to http")
    #expect(line(Redirects(.none)) == "none")
    #expect(
      line(Redirects(.follow(limit: 2, allowsInsecure: true, hosts: ["b.test", "a.test"])))
        == "up to 2, also from https to http, to other hosts only a.test b.test")
    #expect(line(Redirects(.follow(hosts: []))) == "up to 10, never from https to http, to no other host")
  }

  @Test("The other middlewares describe themselves in a word")
  func others() {
    #expect(line(ConnectivityGate(Connectivity(), .failFast)) == "without a network failFast")
    #expect(Credentials().facts.isEmpty)
    #expect(line(Credentials { _ in }) == "reports ends of sessions")
    let logger = LogRecorder().logger()
    #expect(line(RequestLogging(logger)) == "level info, paths as templates")
    #expect(line(RequestLogging(logger, level: .debug, showsPaths: true)) == "level debug, paths as sent")
  }
}
