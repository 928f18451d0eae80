import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Layers in a contradictory order")
struct OrderRulesTests {
  private static let retries: [RuleRow] = [
    RuleRow([.attempts(3)]), RuleRow([.attempts(3)], [.attempts(1)]), RuleRow([]),
    RuleRow(
      [.attempts(3)], [.somePauses], [.attempts(4)],
      says: "A and C retry, one inside the other: a call can make up to 12 attempts."),
    RuleRow(
      [.attempts(.max)], [.attempts(3)],
      says: "A and B retry, one inside the other: a call can make up to \(Int.max) attempts."),
  ]

  @Test("Warning attemptsMultiply: several layers retry", arguments: retries)
  func attemptsMultiply(row: RuleRow) {
    #expect(Contradictions.attemptsMultiply(row.layers) == row.warning(.attemptsMultiply))
  }

  private static let permits: [RuleRow] = [
    RuleRow([.attempts(3)], [.permits(perOrigin: 5, total: 64)]),
    RuleRow([.permits(perOrigin: 5, total: 64)], [.attempts(1)]),
    RuleRow([.permits(perOrigin: .max, total: .max)], [.attempts(3)]),
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attempts(3)],
      says: "A is outside B: permits are held during the delays between attempts."),
    RuleRow(
      [.attempts(3)], [.permits(perOrigin: .max, total: 64)], [.attempts(2)],
      says: "B is outside C: permits are held during the delays between attempts."),
  ]

  @Test("Warning permitsHeldDuringBackoff: permits are acquired outside the retrying layer", arguments: permits)
  func permitsHeldDuringBackoff(row: RuleRow) {
    #expect(Contradictions.permitsHeldDuringBackoff(row.layers) == row.warning(.permitsHeldDuringBackoff))
  }

  private static let breakers: [RuleRow] = [
    RuleRow([.attempts(3)], [.consecutiveFailures(5)]), RuleRow([.consecutiveFailures(5)], [.attempts(1)]),
    RuleRow(
      [.consecutiveFailures(5)], [.attempts(3)],
      says: "A is outside B: the circuit breaker neither counts nor refuses attempts."),
    RuleRow(
      [.someRatio], [.attempts(3)], says: "A is outside B: the circuit breaker neither counts nor refuses attempts."),
  ]

  @Test("Warning breakerOutsideRetry: a breaker is outside the retrying layer", arguments: breakers)
  func breakerOutsideRetry(row: RuleRow) {
    #expect(Contradictions.breakerOutsideRetry(row.layers) == row.warning(.breakerOutsideRetry))
  }

  private static let attemptLimits: [RuleRow] = [
    RuleRow([.attempts(3)], [.attemptLimit(.seconds(10))]), RuleRow([.attemptLimit(nil)], [.attempts(3)]),
    RuleRow([.attemptLimit(.seconds(10))], [.attempts(1)]),
    RuleRow(
      [.attemptLimit(.seconds(10))], [.attempts(3)],
      says: "A is outside B: the attempt timeout limits all attempts of a call together."),
  ]

  @Test("Warning attemptLimitOutsideRetry: the attempt timeout is outside the retrying layer", arguments: attemptLimits)
  func attemptLimitOutsideRetry(row: RuleRow) {
    #expect(Contradictions.attemptLimitOutsideRetry(row.layers) == row.warning(.attemptLimitOutsideRetry))
  }

  private static let totalLimits: [RuleRow] = [
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3)]), RuleRow([.attempts(3)], [.totalLimit(nil)]),
    RuleRow([.attempts(1)], [.totalLimit(.seconds(30))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3)], [.totalLimit(.seconds(20))]),
    RuleRow(
      [.attempts(3)], [.totalLimit(.seconds(30))],
      says: "B is inside A, which does not see the remaining time of the call."),
  ]

  @Test("Warning totalLimitInsideRetry: the total timeout is inside the retrying layer", arguments: totalLimits)
  func totalLimitInsideRetry(row: RuleRow) {
    #expect(Contradictions.totalLimitInsideRetry(row.layers) == row.warning(.totalLimitInsideRetry))
  }
}
