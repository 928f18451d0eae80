import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Breakers that contradict other layers")
struct BreakerRulesTests {
  private static let attempts: [RuleRow] = [
    RuleRow([.attempts(3)], [.someRatio, .failuresInARow(5)]), RuleRow([.attempts(3)], [.failuresInARow(3)]),
    RuleRow([.attempts(1)], [.failuresInARow(1)]), RuleRow([.failuresInARow(2)], [.attempts(3)]),
    RuleRow(
      [.attempts(3)], [.someRatio, .failuresInARow(2)],
      says: "B may open after 2 of the 3 attempts that one call makes, and refuses the others."),
    RuleRow(
      [.attempts(12)], [], [.someRatio],
      says: "C may open after 10 of the 12 attempts that one call makes, and refuses the others."),
    RuleRow(
      [.attempts(3)], [.failuresInARow(0)],
      says: "B may open after 1 of the 3 attempts that one call makes, and refuses the others."),
  ]

  @Test("The attempts of one call do not open the breaker before the last of them", arguments: attempts)
  func breakerWithinOneCall(row: RuleRow) {
    #expect(Contradictions.breakerWithinOneCall(row.layers) == row.warning(.breakerWithinOneCall))
  }

  private static func looking(back window: Duration, minimum: Int = 10) -> Fact {
    .failureRatio(0.5, minimum: minimum, window: window)
  }

  private static let windows: [RuleRow] = [
    RuleRow([.attemptLimit(.seconds(10))], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(10))], [looking(back: .seconds(20))]), RuleRow([.attemptLimit(nil)], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(60))], [.failuresInARow(5)]),
    RuleRow(
      [.attemptLimit(.seconds(10))], [looking(back: .seconds(15))],
      says: "B looks back for 15 s, and one attempt may take 10 s: it needs room for two."),
  ]

  @Test("The breaker's window covers at least two attempts", arguments: windows)
  func breakerWindowTooShort(row: RuleRow) {
    #expect(Contradictions.breakerWindowTooShort(row.layers) == row.warning(.breakerWindowTooShort))
  }

  private static let permits: [RuleRow] = [
    // 5 fail after 0, 10, 20 and 30 s.
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 20)]),
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 21)],
      says: "C judges by at least 21 exchanges in 30 s, and of 5 at a time, each for 10 s, only 20 end in it: an "
        + "endpoint that hangs never opens its circuit."),
    RuleRow(
      [.permits(perOrigin: .max, total: 2)], [.attemptLimit(.seconds(10))], [.someRatio],
      says: "C judges by at least 10 exchanges in 30 s, and of 2 at a time, each for 10 s, only 8 end in it: an "
        + "endpoint that hangs never opens its circuit."),
    RuleRow(
      [.permits(perOrigin: 64, total: .max)], [.attemptLimit(.seconds(10))],
      [looking(back: .seconds(30), minimum: 100)]),
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(nil)], [.someRatio]),
    RuleRow([.attemptLimit(.seconds(10))], [looking(back: .seconds(30), minimum: 1000)]),
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(.seconds(10))], [.failuresInARow(5)]),
    // Another rule reports this one.
    RuleRow([.permits(perOrigin: 1, total: 1)], [.attemptLimit(.seconds(20))], [.someRatio]),
  ]

  @Test("Enough concurrent attempts can fail for the breaker to judge an endpoint that hangs", arguments: permits)
  func breakerBeyondPermits(row: RuleRow) {
    #expect(Contradictions.breakerBeyondPermits(row.layers) == row.warning(.breakerBeyondPermits))
  }

  private static func pace(_ interval: Duration, burst: Int) -> Fact { .rate(interval: interval, burst: burst) }

  private static let rates: [RuleRow] = [
    RuleRow([pace(.seconds(1), burst: 5)], [.someRatio]),
    RuleRow([pace(.seconds(1), burst: 5)], [looking(back: .seconds(30), minimum: 35)]),
    RuleRow(
      [pace(.seconds(1), burst: 5)], [looking(back: .seconds(30), minimum: 36)],
      says: "B judges by at least 36 exchanges in 30 s, and A lets only 35 through."),
    RuleRow([pace(.zero, burst: 0)], [looking(back: .seconds(30), minimum: 100)]),
    RuleRow([pace(.seconds(60), burst: 1)], [.failuresInARow(5)]),
  ]

  @Test("The rate limit admits enough exchanges for the breaker to judge", arguments: rates)
  func breakerBeyondRate(row: RuleRow) {
    #expect(Contradictions.breakerBeyondRate(row.layers) == row.warning(.breakerBeyondRate))
  }
}
