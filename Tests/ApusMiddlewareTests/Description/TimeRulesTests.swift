import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Contradictory timeouts and delays")
struct TimeRulesTests {
  private static let attemptLimits: [RuleRow] = [
    RuleRow([.totalLimit(.seconds(30))], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(10))], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(nil)], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(5))], [.attemptLimit(nil)]),
    RuleRow([.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(Int64.max))], [.attemptLimit(.seconds(Int64.max))]),
    // An endless limit is treated as no limit.
    RuleRow([.totalLimit(.seconds(5))], [.attemptLimit(.seconds(Int64.max))]),
    RuleRow([.totalLimit(.seconds(Int64.max))], [.attemptLimit(.seconds(10))]),
    RuleRow(
      [.totalLimit(.seconds(5))], [.attemptLimit(.seconds(10))],
      says: "The attempt timeout of 10 s exceeds the total timeout of 5 s and never applies."),
    RuleRow(
      [.totalLimit(.seconds(30))], [.totalLimit(.milliseconds(1500))], [.attemptLimit(.seconds(10))],
      says: "The attempt timeout of 10 s exceeds the total timeout of 1.5 s and never applies."),
  ]

  @Test(
    "Warning attemptLimitBeyondTotal: the attempt timeout exceeds the nearest total timeout", arguments: attemptLimits)
  func attemptLimitBeyondTotal(row: RuleRow) {
    #expect(Contradictions.attemptLimitBeyondTotal(row.layers) == row.warning(.attemptLimitBeyondTotal))
  }

  private static let attempts: [RuleRow] = [
    // The second attempt has some time left, which is sufficient.
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(4), .somePauses], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(20))], [.attempts(3)], [.attemptLimit(.seconds(19))]),
    // An attempt with no time left is not started.
    RuleRow(
      [.totalLimit(.seconds(20))], [.attempts(3)], [.attemptLimit(.seconds(20))],
      says: "B makes 3 attempts, but after an attempt timeout of 20 s no retry can start within the total timeout of "
        + "20 s."),
    RuleRow(
      [.totalLimit(.seconds(20))], [.attempts(2), .backoff(first: .seconds(2), maximum: .seconds(20))],
      [.attemptLimit(.seconds(18))],
      says: "B makes 2 attempts, but after an attempt timeout of 18 s no retry can start within the total timeout of "
        + "20 s."),
    RuleRow(
      [.totalLimit(.seconds(30))], [.attempts(5), .backoff(first: .seconds(8), maximum: .seconds(20))],
      says: "B makes 5 attempts, but with the maximum delays only 3 can start within the total timeout of 30 s."),
    RuleRow(
      [.totalLimit(.milliseconds(500))],
      [.attempts(600), .backoff(first: .milliseconds(8), maximum: .milliseconds(1))],
      says: "B makes 600 attempts, but with the maximum delays only 500 can start within the total timeout of 500 ms."),
    RuleRow([.totalLimit(.seconds(1))], [.attempts(1)], [.attemptLimit(.seconds(1))]),
    RuleRow([.totalLimit(nil)], [.attempts(9), .somePauses], [.attemptLimit(.seconds(60))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(.max)]),
    RuleRow([.totalLimit(.seconds(Int64.max))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(Int64.max))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(Int64.max))]),
    // A different rule reports this contradiction.
    RuleRow([.totalLimit(.seconds(5))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(10))]),
  ]

  @Test(
    "Warning attemptsBeyondTotal: the last attempt cannot start if earlier attempts use all their time",
    arguments: attempts)
  func attemptsBeyondTotal(row: RuleRow) {
    #expect(Contradictions.attemptsBeyondTotal(row.layers) == row.warning(.attemptsBeyondTotal))
  }

  private static let serverDelays: [RuleRow] = [
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .serverDelay(upTo: .seconds(60), isClamped: false)]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .serverDelay(upTo: .seconds(5), isClamped: true)]),
    RuleRow([.totalLimit(nil)], [.attempts(3), .serverDelay(upTo: .seconds(60), isClamped: true)]),
    RuleRow(
      [.totalLimit(.seconds(Int64.max))], [.attempts(3), .serverDelay(upTo: .seconds(Int64.max), isClamped: true)]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(1), .serverDelay(upTo: .seconds(60), isClamped: true)]),
    RuleRow(
      [.totalLimit(.seconds(30))], [.attempts(3), .serverDelay(upTo: .seconds(30), isClamped: true)],
      says: "B clamps a server's delay to 30 s, but the total timeout is 30 s: the call ends before the delay does."),
  ]

  @Test(
    "Warning serverDelayBeyondTotal: a server's delay is clamped above the call's timeout",
    arguments: serverDelays)
  func serverDelayBeyondTotal(row: RuleRow) {
    #expect(Contradictions.serverDelayBeyondTotal(row.layers) == row.warning(.serverDelayBeyondTotal))
  }

  private static let atOnce = "A retries without a delay: an overloaded server gets all attempts immediately."

  private static let pauses: [RuleRow] = [
    RuleRow([.attempts(3), .somePauses]), RuleRow([.attempts(3)]),
    RuleRow([.attempts(1), .backoff(first: .zero, maximum: .zero)]),
    RuleRow([.attempts(3), .backoff(first: .zero, maximum: .seconds(20))], says: atOnce),
    RuleRow([.attempts(3), .backoff(first: .seconds(1), maximum: .zero)], says: atOnce),
    RuleRow([.attempts(3), .backoff(first: .seconds(-1), maximum: .seconds(1))], says: atOnce),
  ]

  @Test("Warning noBackoff: retries have no delay", arguments: pauses)
  func noBackoff(row: RuleRow) {
    #expect(Contradictions.noBackoff(row.layers) == row.warning(.noBackoff))
  }

  private static let budgets: [RuleRow] = [
    RuleRow([.attempts(3), .budget(capacity: 500, cost: 14)]),
    RuleRow([.attempts(3), .budget(capacity: 14, cost: 14)]),
    RuleRow([.attempts(3), .budget(capacity: 0, cost: 0)]), RuleRow([.attempts(1), .budget(capacity: 0, cost: 14)]),
    RuleRow(
      [.attempts(3), .budget(capacity: 10, cost: 14)],
      says: "A has a retry budget of 10, but a retry costs 14: the budget never suffices."),
  ]

  @Test("Warning budgetTooSmall: the retry budget does not suffice for one retry", arguments: budgets)
  func budgetTooSmall(row: RuleRow) {
    #expect(Contradictions.budgetTooSmall(row.layers) == row.warning(.budgetTooSmall))
  }
}
