import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@Suite("Middlewares in a contradictory order")
struct MisplacedLayersTests {
  private typealias Code = ClientDescription.Warning.Code

  /// What the client says of itself whose pipeline has these.
  private func codes(
    _ middlewares: [(any Middleware, Pipeline.Position)], within timeout: Duration? = .seconds(30)
  ) -> [Code] {
    var client = TestClient()
    client.timeout = timeout
    client.customize = { pipeline in
      for (middleware, position) in middlewares { pipeline.insert(middleware, position) }
    }
    return client.over(StubTransport()).describe().warnings.map(\.code)
  }

  @Test("The default order has no contradictions")
  func inOrder() {
    #expect(
      codes([
        (Retry(), .after(.retry)), (Scheduling(), .after(.scheduling)), (AttemptDeadline(), .after(.attemptDeadline)),
        (RateLimiter(), .after(.rateLimit)), (CircuitBreaker(), .after(.breaker)), (Redirects(), .after(.redirects)),
      ]).isEmpty)
  }

  @Test("Scheduling outside retry holds permits during delays")
  func schedulingOutside() {
    #expect(codes([(Retry(), .after(.retry)), (Scheduling(), .beforeRetry)]) == [.permitsHeldInPauses])
    #expect(codes([(Retry(), .after(.scheduling)), (Scheduling(), .before(.scheduling))]) == [.permitsHeldInPauses])
  }

  @Test("Two retries multiply their attempts, unless one has none")
  func twoRetries() {
    #expect(codes([(Retry(), .after(.retry)), (Retry(.server), .beforeTransport)]) == [.attemptsMultiply])
    #expect(codes([(Retry(), .after(.retry)), (Retry(.none), .beforeTransport)]).isEmpty)
  }

  @Test("A breaker outside retry counts calls, and a strict one refuses what retry sends")
  func breakers() {
    #expect(codes([(Retry(), .after(.retry)), (CircuitBreaker(), .beforeRetry)]) == [.breakerOutsideRetry])
    let quick = CircuitBreaker(BreakerPolicy(consecutive: 2))
    #expect(codes([(Retry(), .after(.retry)), (quick, .after(.breaker))]) == [.breakerWithinOneCall])
    let slow = RateLimiter(.perMinute(1))
    #expect(codes([(slow, .after(.rateLimit)), (CircuitBreaker(), .after(.breaker))]) == [.breakerBeyondRate])
  }

  @Test("Deadlines on the wrong side of retry, in the wrong order, or longer than a breaker's window")
  func deadlines() {
    #expect(codes([(Retry(), .after(.retry)), (AttemptDeadline(), .beforeRetry)]) == [.attemptLimitOutsideRetry])
    #expect(
      codes([(Retry(), .after(.retry)), (TotalDeadline(), .afterRetry)], within: nil) == [.totalLimitInsideRetry])
    #expect(codes([(AttemptDeadline(standard: .seconds(60)), .afterRetry)]) == [.attemptLimitBeyondTotal])
    #expect(
      codes([(AttemptDeadline(standard: .seconds(20)), .afterRetry), (CircuitBreaker(), .after(.breaker))]) == [
        .breakerWindowTooShort
      ])
    #expect(
      codes([
        (Scheduling(Scheduler(SchedulingLimits(perOrigin: 1))), .after(.scheduling)),
        (AttemptDeadline(), .after(.attemptDeadline)), (CircuitBreaker(), .after(.breaker)),
      ]) == [.breakerBeyondPermits])
  }

  @Test("Delays longer than the call, none at all, and a budget without effect")
  func pauses() {
    #expect(codes([(Retry(RetryPolicy(attempts: 4, base: .seconds(15))), .after(.retry))]) == [.attemptsBeyondTotal])
    #expect(codes([(Retry(RetryPolicy(base: .zero)), .after(.retry))]) == [.noPauses])
    var policy = RetryPolicy()
    policy.serverDelay = .clamped(to: .seconds(30))
    #expect(codes([(Retry(policy), .after(.retry))]) == [.serverDelayBeyondTotal])
    var budget = RetryBudget()
    budget.capacity = 10
    #expect(codes([(Retry(budget: budget), .after(.retry))]) == [.budgetTooSmall])
  }
}
