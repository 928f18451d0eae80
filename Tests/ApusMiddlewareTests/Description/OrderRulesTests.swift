import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Layers in a contradictory order")
struct OrderRulesTests {
  private static let retries: [RuleRow] = [
    RuleRow([.attempts(3)]), RuleRow([.attempts(3)], [.attempts(1)]), RuleRow([]),
    RuleRow(
      [.attempts(3)], [.somePauses], [.attempts(4)],
      says: "A and C try again, one inside the other: up to 12 attempts of one call."),
    RuleRow(
      [.attempts(.max)], [.attempts(3)],
      says: "A and B try again, one inside the other: up to \(Int.max) attempts of one call."),
  ]

  @Test("Only one layer retries", arguments: retries)
  func attemptsMultiply(row: RuleRow) {
    #expect(Contradictions.attemptsMultiply(row.layers) == row.warning(.attemptsMultiply))
  }

  private static let permits: [RuleRow] = [
    RuleRow([.attempts(3)], [.permits(perOrigin: 5, total: 64)]),
    RuleRow([.permits(perOrigin: 5, total: 64)], [.attempts(1)]),
    RuleRow([.permits(perOrigin: .max, total: .max)], [.attempts(3)]),
    RuleRow(
      [.permits(perOrigin: 5, total: 64)], [.attempts(3)],
      says: "A stands outside B: its permits are held while B pauses."),
    RuleRow(
      [.attempts(3)], [.permits(perOrigin: .max, total: 64)], [.attempts(2)],
      says: "B stands outside C: its permits are held while C pauses."),
  ]

  @Test("Permits are acquired inside the retrying layer", arguments: permits)
  func permitsHeldInPauses(row: RuleRow) {
    #expect(Contradictions.permitsHeldInPauses(row.layers) == row.warning(.permitsHeldInPauses))
  }

  private static let breakers: [RuleRow] = [
    RuleRow([.attempts(3)], [.failuresInARow(5)]), RuleRow([.failuresInARow(5)], [.attempts(1)]),
    RuleRow(
      [.failuresInARow(5)], [.attempts(3)],
      says: "A stands outside B: it counts no attempts, and stops none once it is open."),
    RuleRow(
      [.someRatio], [.attempts(3)], says: "A stands outside B: it counts no attempts, and stops none once it is open."),
  ]

  @Test("A breaker is placed inside the retrying layer", arguments: breakers)
  func breakerOutsideRetry(row: RuleRow) {
    #expect(Contradictions.breakerOutsideRetry(row.layers) == row.warning(.breakerOutsideRetry))
  }

  private static let attemptLimits: [RuleRow] = [
    RuleRow([.attempts(3)], [.attemptLimit(.seconds(10))]), RuleRow([.attemptLimit(nil)], [.attempts(3)]),
    RuleRow([.attemptLimit(.seconds(10))], [.attempts(1)]),
    RuleRow(
      [.attemptLimit(.seconds(10))], [.attempts(3)],
      says: "A stands outside B: it limits all attempts of a call together."),
  ]

  @Test("The attempt timeout is placed inside the retrying layer", arguments: attemptLimits)
  func attemptLimitOutsideRetry(row: RuleRow) {
    #expect(Contradictions.attemptLimitOutsideRetry(row.layers) == row.warning(.attemptLimitOutsideRetry))
  }

  private static let totalLimits: [RuleRow] = [
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3)]), RuleRow([.attempts(3)], [.totalLimit(nil)]),
    RuleRow([.attempts(1)], [.totalLimit(.seconds(30))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3)], [.totalLimit(.seconds(20))]),
    RuleRow(
      [.attempts(3)], [.totalLimit(.seconds(30))],
      says: "B stands inside A, which does not see how much time is left."),
  ]

  @Test("The total timeout is placed outside the retrying layer", arguments: totalLimits)
  func totalLimitInsideRetry(row: RuleRow) {
    #expect(Contradictions.totalLimitInsideRetry(row.layers) == row.warning(.totalLimitInsideRetry))
  }
}
