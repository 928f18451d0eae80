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

  @Test("The facts of the timeout middlewares are their timeouts, or state the lack of a timeout")
  func deadlines() {
    #expect(
      TimeoutMiddleware().facts == [.totalLimit(.seconds(30)), .setting("paused while content is transferred", "")])
    #expect(TimeoutMiddleware(default: nil).facts == [.totalLimit(nil)])
    #expect(AttemptTimeoutMiddleware().facts == [.attemptLimit(.seconds(10))])
    #expect(AttemptTimeoutMiddleware(default: nil).facts == [.attemptLimit(nil)])
  }

  @Test("The facts of RetryMiddleware are its policy and budget")
  func retry() {
    #expect(
      line(RetryMiddleware()) == "3 attempts, backoff 200 ms, doubling up to 20 s, after 429 from 1 s, "
        + "Retry-After up to 60 s, retry budget 500 at 14 per retry")
    #expect(line(RetryMiddleware(.none)) == "1 attempt")
  }

  @Test("The facts of RetryMiddleware include unusual settings")
  func unusualRetry() {
    var policy = RetryPolicy(maximumAttempts: 5, baseDelay: .seconds(1))
    policy.serverDelay = .clamped(to: .seconds(5))
    policy.statuses = [503, 429]
    policy.retriesNonIdempotent = true
    #expect(
      line(RetryMiddleware(policy, budget: .unlimited)) == "5 attempts, backoff 1 s, doubling up to 20 s, "
        + "after 429 from 1 s, Retry-After cut to 5 s, no retry budget, statuses 429 503, "
        + "non-idempotent calls where the server allows it")
  }

  @Test("The facts of SchedulingMiddleware are its limits")
  func scheduling() {
    #expect(
      line(SchedulingMiddleware())
        == "5 concurrent calls per origin, 64 in total, up to 64 per origin over HTTP/2, "
        + "streams hold permits until the head, queue 100000, ageing 10 s")
    var limits = ConcurrencyLimits(global: .max, perOrigin: 0, tags: ["thumbnails": 2, "images": 4])
    limits.origins = [Origin(scheme: "https", host: "b.test", port: 443): 9]
    limits.queueCapacity = 0
    #expect(
      line(SchedulingMiddleware(Scheduler(limits))) == "1 concurrent call per origin, https://b.test 9, tag images 4, "
        + "tag thumbnails 2, streams hold permits until the head, queue 0, ageing 10 s")
  }

  @Test("The facts of RateLimiter are its rate and its maximum server delay")
  func rateLimiter() {
    #expect(line(RateLimiter()) == "limits that servers ask for, queue 1000, Retry-After up to 60 s")
    #expect(
      line(RateLimiter(.perSecond(10, burst: 20), queueCapacity: 5, maximumServerDelay: .seconds(1)))
        == "1 request per 100 ms, burst 20, queue 5, Retry-After up to 1 s")
  }

  @Test("The facts of CircuitBreaker are the conditions for opening and the open times")
  func breaker() {
    #expect(
      line(CircuitBreaker(.server))
        == "opens at a failure ratio of 0.1 of at least 100 exchanges in 30 s, opens after 5 consecutive failures, "
        + "a circuit per endpoint and per origin, open for 5 s, up to 60 s")
    let policy = BreakerPolicy(minimumExchanges: 0, consecutiveFailures: 0)
    #expect(CircuitBreaker(policy).facts.contains(.failureRatio(0.5, minimum: 1, window: .seconds(30))))
    #expect(CircuitBreaker(policy).facts.contains(.consecutiveFailures(1)))
  }

  @Test("The facts of RedirectMiddleware are its limits and hosts")
  func redirects() {
    #expect(line(RedirectMiddleware()) == "up to 10, never from https to http")
    #expect(line(RedirectMiddleware(.none)) == "none")
    #expect(
      line(RedirectMiddleware(.follow(limit: 2, allowsInsecure: true, hosts: ["b.test", "a.test"])))
        == "up to 2, also from https to http, to other hosts only a.test b.test")
    #expect(line(RedirectMiddleware(.follow(hosts: []))) == "up to 10, never from https to http, to no other host")
  }

  @Test("The facts of the other middlewares consist of one setting")
  func others() {
    #expect(line(ConnectivityMiddleware(Connectivity(), .failFast)) == "offline failFast")
    #expect(AuthenticationMiddleware().facts.isEmpty)
    #expect(line(AuthenticationMiddleware { _ in }) == "reports session ends")
    let logger = LogRecorder().logger()
    #expect(line(RequestLogging(logger)) == "level info, paths as templates")
    #expect(line(RequestLogging(logger, level: .debug, showsPaths: true)) == "level debug, paths as sent")
  }
}
