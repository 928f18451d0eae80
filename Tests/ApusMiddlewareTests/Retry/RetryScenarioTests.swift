import ApusCore
import Testing

@testable import ApusMiddleware

/// A sequence of failures of a call, each with the resulting delay and the remaining budget.
struct RetryScenario: Sendable, CustomTestStringConvertible {
  struct Step: Sendable {
    /// The failure; `nil`: the attempt succeeds.
    let failure: AttemptFailure?
    let decision: RetryDecision?
    let quota: Int

    static func status(_ status: Int, after delay: Duration? = nil, _ decision: RetryDecision, quota: Int) -> Step {
      Step(failure: .responded(.init(status: status, delay: delay)), decision: decision, quota: quota)
    }

    static func notSent(_ decision: RetryDecision, quota: Int) -> Step {
      Step(failure: .notSent(.connectionFailed), decision: decision, quota: quota)
    }

    static func broken(_ decision: RetryDecision, quota: Int) -> Step {
      Step(failure: .unknown(.connectionLost, .maybeSent), decision: decision, quota: quota)
    }

    static func success(quota: Int) -> Step { Step(failure: nil, decision: nil, quota: quota) }
  }

  let name: String
  var policy = RetryPolicy(baseDelay: .seconds(1))
  var capacity = 500
  /// The amount that other calls have spent before.
  var spent = 0
  var remaining: Duration?
  let steps: [Step]

  var testDescription: String { name }

  init(_ name: String, _ steps: [Step], _ change: (inout RetryScenario) -> Void = { _ in }) {
    self.name = name
    self.steps = steps
    change(&self)
  }

  static func pause(_ seconds: Int) -> RetryDecision { .retry(after: .seconds(seconds), .backoff) }
}

@Suite("Retry: responses, delays and costs")
struct RetryScenarioTests {
  private static let pauses: [RetryScenario] = [
    RetryScenario(
      "the third attempt succeeds and gives the last cost back",
      [
        .status(500, RetryScenario.pause(1), quota: 486), .status(500, RetryScenario.pause(2), quota: 472),
        .success(quota: 486),
      ]),
    RetryScenario(
      "the call fails when the attempts are used up",
      [
        .status(502, RetryScenario.pause(1), quota: 486), .broken(RetryScenario.pause(2), quota: 472),
        .status(502, .giveUp(.attemptsExhausted), quota: 472),
      ]),
    RetryScenario(
      "delays double",
      [
        .status(500, RetryScenario.pause(1), quota: 486), .status(500, RetryScenario.pause(2), quota: 472),
        .status(500, RetryScenario.pause(4), quota: 458), .status(500, RetryScenario.pause(8), quota: 444),
        .status(500, .giveUp(.attemptsExhausted), quota: 444),
      ]
    ) { $0.policy.maximumAttempts = 5 },
    RetryScenario(
      "delays have an upper bound",
      [
        .status(500, RetryScenario.pause(1), quota: 486), .status(500, RetryScenario.pause(2), quota: 472),
        .status(500, RetryScenario.pause(3), quota: 458), .status(500, RetryScenario.pause(3), quota: 444),
      ]
    ) { ($0.policy.maximumAttempts, $0.policy.maximumDelay) = (5, .seconds(3)) },
    RetryScenario(
      "a request that was not sent is retried at once and free once, then counts",
      [
        .notSent(.retry(after: .zero, .notSent), quota: 500), .notSent(RetryScenario.pause(1), quota: 486),
        .notSent(RetryScenario.pause(2), quota: 472), .notSent(.giveUp(.attemptsExhausted), quota: 472),
      ]),
    RetryScenario(
      "a free retry gives nothing back",
      [.notSent(.retry(after: .zero, .notSent), quota: 490), .success(quota: 491)]
    ) { $0.spent = 10 },
  ]

  private static let budgets: [RetryScenario] = [
    RetryScenario(
      "the budget is exhausted after one retry",
      [.status(500, RetryScenario.pause(1), quota: 0), .status(502, .giveUp(.budgetExhausted), quota: 0)]
    ) { $0.capacity = 14 },
    RetryScenario(
      "less than an attempt costs is not spent", [.status(500, .giveUp(.budgetExhausted), quota: 13)]
    ) { $0.capacity = 13 },
    RetryScenario(
      "there is no budget at all", [.status(500, .giveUp(.budgetExhausted), quota: 0)]
    ) { $0.capacity = 0 },
    RetryScenario("success at once gives a little back", [.success(quota: 487)]) { $0.spent = 14 },
    RetryScenario("success gives no more back than there can be", [.success(quota: 500)]),
    RetryScenario(
      "status 429 costs less and has longer delays",
      [
        .status(429, .retry(after: .seconds(1), .throttled), quota: 495),
        .status(429, .retry(after: .seconds(2), .throttled), quota: 490), .success(quota: 495),
      ]
    ) { $0.policy.baseDelay = .milliseconds(50) },
    RetryScenario(
      "a failure that is not retried costs nothing",
      [.status(404, .giveUp(.notTemporary), quota: 500)]),
  ]

  private static let delays: [RetryScenario] = [
    RetryScenario(
      "the server's delay is honored, plus up to a tenth",
      [.status(503, after: .seconds(5), .retry(after: .milliseconds(5500), .serverDelay), quota: 486)]),
    RetryScenario(
      "a short server delay does not shorten the backoff",
      [.status(503, after: .zero, RetryScenario.pause(1), quota: 486)]),
    RetryScenario(
      "the longest server delay that is honored",
      [.status(503, after: .seconds(60), .retry(after: .seconds(66), .serverDelay), quota: 486)]),
    RetryScenario(
      "a longer server delay ends the call",
      [.status(503, after: .milliseconds(60_001), .giveUp(.serverDelayTooLong), quota: 500)]),
    RetryScenario(
      "for ever is not waited", [.status(429, after: .seconds(1 << 31), .giveUp(.serverDelayTooLong), quota: 500)]),
    RetryScenario(
      "a clamped server delay",
      [.status(503, after: .seconds(30), .retry(after: .milliseconds(5500), .serverDelay), quota: 486)]
    ) { $0.policy.serverDelay = .clamped(to: .seconds(5)) },
    RetryScenario(
      "a pause that ends before the deadline", [.status(500, RetryScenario.pause(1), quota: 486)]
    ) { $0.remaining = .milliseconds(1001) },
    RetryScenario(
      "a pause that ends with the deadline", [.status(500, .giveUp(.deadlineTooNear), quota: 500)]
    ) { $0.remaining = .seconds(1) },
    RetryScenario(
      "a server delay beyond the deadline ends the call",
      [.status(503, after: .seconds(5), .giveUp(.deadlineTooNear), quota: 500)]
    ) { $0.remaining = .seconds(5) },
    RetryScenario(
      "no time at all", [.notSent(.giveUp(.deadlineTooNear), quota: 500)]
    ) { $0.remaining = .zero },
  ]

  @Test("Each retry has the expected delay and cost", arguments: pauses + budgets + delays)
  func scenario(_ scenario: RetryScenario) {
    let origin = Origin(scheme: "https", host: "a.example", port: 443)
    var budget = RetryBudgetState(capacity: scenario.capacity)
    if scenario.spent > 0 { _ = budget.withdraw(scenario.spent, at: origin) }
    var state = RetryState(scenario.policy, .default, RetryState.Subject(isIdempotent: true, isKeyed: false))
    // The random number that yields the longest delay.
    let moment = RetryState.Moment(remaining: scenario.remaining, jitter: 1, isReplayable: true)
    for step in scenario.steps {
      if let failure = step.failure {
        let decision = state.decision(after: failure, moment) { budget.withdraw($0, at: origin) }
        #expect(decision == step.decision)
      } else {
        budget.deposit(state.lastCost ?? RetryBudget.default.refund, at: origin)
      }
      #expect(budget.rest(at: origin) == step.quota)
    }
  }
}
