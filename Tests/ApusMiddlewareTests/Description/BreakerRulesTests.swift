import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Breakers that contradict other layers")
struct BreakerRulesTests {
  private static let attempts: [RuleRow] = [
    RuleRow([.attempts(3)], [.someRatio, .consecutiveFailures(5)]), RuleRow([.attempts(3)], [.consecutiveFailures(3)]),
    RuleRow([.attempts(1)], [.consecutiveFailures(1)]), RuleRow([.consecutiveFailures(2)], [.attempts(3)]),
    RuleRow(
      [.attempts(3)], [.someRatio, .consecutiveFailures(2)],
      says: "B can open after 2 of the 3 attempts of one call, and then refuses the rest."),
    RuleRow(
      [.attempts(12)], [], [.someRatio],
      says: "C can open after 10 of the 12 attempts of one call, and then refuses the rest."),
    RuleRow(
      [.attempts(3)], [.consecutiveFailures(0)],
      says: "B can open after 1 of the 3 attempts of one call, and then refuses the rest."),
  ]

  @Test(
    "Warning breakerWithinOneCall: the attempts of one call open the breaker before the last attempt",
    arguments: attempts)
  func breakerWithinOneCall(row: RuleRow) {
    #expect(Contradictions.breakerWithinOneCall(row.layers) == row.warning(.breakerWithinOneCall))
  }

  private static func looking(back window: Duration, minimum: Int = 10) -> Fact {
    .failureRatio(0.5, minimum: minimum, window: window)
  }

  private static let windows: [RuleRow] = [
    RuleRow([.attemptLimit(.seconds(10))], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(10))], [looking(back: .seconds(20))]), RuleRow([.attemptLimit(nil)], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(60))], [.consecutiveFailures(5)]),
    RuleRow(
      [.attemptLimit(.seconds(10))], [looking(back: .seconds(15))],
      says: "B has a window of 15 s, but the attempt timeout is 10 s: the window must cover at least two attempts."),
  ]

  @Test("Warning breakerWindowTooShort: the breaker's window is shorter than two attempt timeouts", arguments: windows)
  func breakerWindowTooShort(row: RuleRow) {
    #expect(Contradictions.breakerWindowTooShort(row.layers) == row.warning(.breakerWindowTooShort))
  }

  private static let permits: [RuleRow] = [
    // With 5 permits, attempts fail at 0, 10, 20 and 30 s.
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 20)]),
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 21)],
      says: "C needs at least 21 exchanges in 30 s, but a concurrency limit of 5 and an attempt timeout of 10 s allow "
        + "only 20: an endpoint that never responds does not open its circuit."),
    RuleRow(
      [.permits(perOrigin: .max, total: 2)], [.attemptLimit(.seconds(10))], [.someRatio],
      says: "C needs at least 10 exchanges in 30 s, but a concurrency limit of 2 and an attempt timeout of 10 s allow "
        + "only 8: an endpoint that never responds does not open its circuit."),
    RuleRow(
      [.permits(perOrigin: 64, total: .max)], [.attemptLimit(.seconds(10))],
      [looking(back: .seconds(30), minimum: 100)]),
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(nil)], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 1000)]),
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(.seconds(10))], [.consecutiveFailures(5)]),
    // A different rule reports this contradiction.
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(.seconds(20))], [.someRatio]),
  ]

  @Test(
    "Warning breakerBeyondPermits: with so few permits, a silent endpoint causes too few failures to open its circuit",
    arguments: permits)
  func breakerBeyondPermits(row: RuleRow) {
    #expect(Contradictions.breakerBeyondPermits(row.layers) == row.warning(.breakerBeyondPermits))
  }

  private static func pace(_ interval: Duration, burst: Int) -> Fact { .rate(interval: interval, burst: burst) }

  private static let rates: [RuleRow] = [
    RuleRow([pace(.seconds(1), burst: 5)], [.someRatio]),
    RuleRow([pace(.seconds(1), burst: 5)], [looking(back: .seconds(30), minimum: 35)]),
    RuleRow(
      [pace(.seconds(1), burst: 5)], [looking(back: .seconds(30), minimum: 36)],
      says: "B needs at least 36 exchanges in 30 s, but A admits only 35: the failure ratio never applies."),
    RuleRow([pace(.zero, burst: 0)], [looking(back: .seconds(30), minimum: 100)]),
    RuleRow([pace(.seconds(60), burst: 1)], [.consecutiveFailures(5)]),
  ]

  @Test(
    "Warning breakerBeyondRate: the rate limit admits too few exchanges for the breaker's failure ratio",
    arguments: rates)
  func breakerBeyondRate(row: RuleRow) {
    #expect(Contradictions.breakerBeyondRate(row.layers) == row.warning(.breakerBeyondRate))
  }
}
