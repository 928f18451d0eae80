import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@Suite("Middlewares in a contradictory order")
struct MisplacedLayersTests {
  private typealias Code = ClientDescription.Warning.Code

  /// Returns the warning codes of a client with additional middlewares.
  private func codes(
    _ middlewares: [(any Middleware, Pipeline.Position)], within timeout: Duration? = .seconds(30)
  ) -> [Code] {
    var client = TestClient()
    client.timeout = timeout
    client.customize = { pipeline in
      for (middleware, position) in middlewares { pipeline.insert(middleware, position) }
    }
    return client.over(StubTransport()).describe().contradictions.map(\.code)
  }

  @Test("The default order of middlewares has no warnings")
  func inOrder() {
    #expect(
      codes([
        (RetryMiddleware(), .after(.retry)), (SchedulingMiddleware(), .after(.scheduling)),
        (AttemptTimeoutMiddleware(), .after(.attemptTimeout)),
        (RateLimiter(), .after(.rateLimit)), (CircuitBreaker(), .after(.breaker)),
        (RedirectMiddleware(), .after(.redirects)),
      ]).isEmpty)
  }

  @Test("Warning for scheduling outside retry, which holds permits during delays")
  func schedulingOutside() {
    #expect(
      codes([(RetryMiddleware(), .after(.retry)), (SchedulingMiddleware(), .before(.retry))]) == [
        .permitsHeldDuringBackoff
      ])
    #expect(
      codes([(RetryMiddleware(), .after(.scheduling)), (SchedulingMiddleware(), .before(.scheduling))]) == [
        .permitsHeldDuringBackoff
      ])
  }

  @Test("Two retry middlewares multiply their attempts, unless one of the middlewares makes no retries")
  func twoRetries() {
    #expect(
      codes([(RetryMiddleware(), .after(.retry)), (RetryMiddleware(.server), .before(.transport))]) == [
        .attemptsMultiply
      ])
    #expect(codes([(RetryMiddleware(), .after(.retry)), (RetryMiddleware(.none), .before(.transport))]).isEmpty)
  }

  @Test("Warnings for a breaker outside retry, and for a breaker that opens within one call")
  func breakers() {
    #expect(
      codes([(RetryMiddleware(), .after(.retry)), (CircuitBreaker(), .before(.retry))]) == [.breakerOutsideRetry])
    let quick = CircuitBreaker(BreakerPolicy(consecutiveFailures: 2))
    #expect(codes([(RetryMiddleware(), .after(.retry)), (quick, .after(.breaker))]) == [.breakerWithinOneCall])
    let slow = RateLimiter(.perMinute(1))
    #expect(codes([(slow, .after(.rateLimit)), (CircuitBreaker(), .after(.breaker))]) == [.breakerBeyondRate])
  }

  @Test("Warnings for timeouts on the wrong side of retry, in the wrong order, or longer than a breaker's window")
  func deadlines() {
    #expect(
      codes([(RetryMiddleware(), .after(.retry)), (AttemptTimeoutMiddleware(), .before(.retry))]) == [
        .attemptLimitOutsideRetry
      ])
    #expect(
      codes([(RetryMiddleware(), .after(.retry)), (TimeoutMiddleware(), .after(.retry))], within: nil) == [
        .totalLimitInsideRetry
      ])
    #expect(codes([(AttemptTimeoutMiddleware(default: .seconds(60)), .after(.retry))]) == [.attemptLimitBeyondTotal])
    #expect(
      codes([(AttemptTimeoutMiddleware(default: .seconds(20)), .after(.retry)), (CircuitBreaker(), .after(.breaker))])
        == [
          .breakerWindowTooShort
        ])
    #expect(
      codes([
        (SchedulingMiddleware(Scheduler(ConcurrencyLimits(perOrigin: 1))), .after(.scheduling)),
        (AttemptTimeoutMiddleware(), .after(.attemptTimeout)), (CircuitBreaker(), .after(.breaker)),
      ]) == [.breakerBeyondPermits])
  }

  @Test("Delays longer than the call, missing delays and a budget without effect each cause a warning")
  func pauses() {
    #expect(
      codes([(RetryMiddleware(RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(15))), .after(.retry))]) == [
        .attemptsBeyondTotal
      ])
    #expect(codes([(RetryMiddleware(RetryPolicy(baseDelay: .zero)), .after(.retry))]) == [.noBackoff])
    var policy = RetryPolicy()
    policy.serverDelay = .clamped(to: .seconds(30))
    #expect(codes([(RetryMiddleware(policy), .after(.retry))]) == [.serverDelayBeyondTotal])
    var budget = RetryBudget()
    budget.capacity = 10
    #expect(codes([(RetryMiddleware(budget: budget), .after(.retry))]) == [.budgetTooSmall])
  }
}
