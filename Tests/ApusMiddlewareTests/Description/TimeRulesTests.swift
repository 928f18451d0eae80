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
    // An endless limit counts as none.
    RuleRow([.totalLimit(.seconds(5))], [.attemptLimit(.seconds(Int64.max))]),
    RuleRow([.totalLimit(.seconds(Int64.max))], [.attemptLimit(.seconds(10))]),
    RuleRow(
      [.totalLimit(.seconds(5))], [.attemptLimit(.seconds(10))],
      says: "An attempt may take 10 s and the whole call 5 s: the call always ends first."),
    RuleRow(
      [.totalLimit(.seconds(30))], [.totalLimit(.milliseconds(1500))], [.attemptLimit(.seconds(10))],
      says: "An attempt may take 10 s and the whole call 1.5 s: the call always ends first."),
  ]

  @Test("An attempt may not take longer than its call; the nearest limits count", arguments: attemptLimits)
  func attemptLimitBeyondTotal(row: RuleRow) {
    #expect(Contradictions.attemptLimitBeyondTotal(row.layers) == row.warning(.attemptLimitBeyondTotal))
  }

  private static let attempts: [RuleRow] = [
    // The second attempt has some time left, which is enough.
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(4), .somePauses], [.attemptLimit(.seconds(10))]),
    RuleRow([.totalLimit(.seconds(20))], [.attempts(3)], [.attemptLimit(.seconds(19))]),
    // An attempt is not started at the very last moment.
    RuleRow(
      [.totalLimit(.seconds(20))], [.attempts(3)], [.attemptLimit(.seconds(20))],
      says: "B makes 3 attempts, and where one takes the 20 s that it may, no other can begin within the 20 s of the "
        + "whole call."),
    RuleRow(
      [.totalLimit(.seconds(20))], [.attempts(2), .pauses(first: .seconds(2), longest: .seconds(20))],
      [.attemptLimit(.seconds(18))],
      says: "B makes 2 attempts, and where one takes the 18 s that it may, no other can begin within the 20 s of the "
        + "whole call."),
    RuleRow(
      [.totalLimit(.seconds(30))], [.attempts(5), .pauses(first: .seconds(8), longest: .seconds(20))],
      says: "B makes 5 attempts, and where pauses are as long as they may be only 3 can begin within the 30 s of the "
        + "whole call."),
    RuleRow(
      [.totalLimit(.milliseconds(500))],
      [.attempts(600), .pauses(first: .milliseconds(8), longest: .milliseconds(1))],
      says: "B makes 600 attempts, and where pauses are as long as they may be only 500 can begin within the 500 ms of "
        + "the whole call."),
    RuleRow([.totalLimit(.seconds(1))], [.attempts(1)], [.attemptLimit(.seconds(1))]),
    RuleRow([.totalLimit(nil)], [.attempts(9), .somePauses], [.attemptLimit(.seconds(60))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(.max)]),
    RuleRow([.totalLimit(.seconds(Int64.max))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(Int64.max))]),
    RuleRow([.totalLimit(.seconds(30))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(Int64.max))]),
    // Another rule reports this one.
    RuleRow([.totalLimit(.seconds(5))], [.attempts(3), .somePauses], [.attemptLimit(.seconds(10))]),
  ]

  @Test("The last attempt can start even if the earlier ones take all their time", arguments: attempts)
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
      says: "B cuts a server's delay to 30 s, and the whole call has 30 s: it would end before the delay does."),
  ]

  @Test(
    "A server's delay is capped below the call's timeout; an uncapped delay that exceeds it ends the call immediately anyway",
    arguments: serverDelays)
  func serverDelayBeyondTotal(row: RuleRow) {
    #expect(Contradictions.serverDelayBeyondTotal(row.layers) == row.warning(.serverDelayBeyondTotal))
  }

  private static let atOnce = "A tries again without a pause: a server in trouble gets all attempts at once."

  private static let pauses: [RuleRow] = [
    RuleRow([.attempts(3), .somePauses]), RuleRow([.attempts(3)]),
    RuleRow([.attempts(1), .pauses(first: .zero, longest: .zero)]),
    RuleRow([.attempts(3), .pauses(first: .zero, longest: .seconds(20))], says: atOnce),
    RuleRow([.attempts(3), .pauses(first: .seconds(1), longest: .zero)], says: atOnce),
    RuleRow([.attempts(3), .pauses(first: .seconds(-1), longest: .seconds(1))], says: atOnce),
  ]

  @Test("Retries have a delay between attempts", arguments: pauses)
  func noPauses(row: RuleRow) {
    #expect(Contradictions.noPauses(row.layers) == row.warning(.noPauses))
  }

  private static let budgets: [RuleRow] = [
    RuleRow([.attempts(3), .budget(capacity: 500, cost: 14)]),
    RuleRow([.attempts(3), .budget(capacity: 14, cost: 14)]),
    RuleRow([.attempts(3), .budget(capacity: 0, cost: 0)]), RuleRow([.attempts(1), .budget(capacity: 0, cost: 14)]),
    RuleRow(
      [.attempts(3), .budget(capacity: 10, cost: 14)],
      says: "A has 10 to spend and another attempt costs 14: there is never another."),
  ]

  @Test("The retry budget suffices for at least one retry", arguments: budgets)
  func budgetTooSmall(row: RuleRow) {
    #expect(Contradictions.budgetTooSmall(row.layers) == row.warning(.budgetTooSmall))
  }
}
