import ApusCore

/// What follows from an attempt that failed.
typealias RetryDecision = FailedAttempt.Decision

/// Whether there is another attempt of one call, and when: pure; ``RetriedCall`` does what it answers.
///
/// What was not sent goes out once more at once, whatever its method: that counts as no attempt and costs nothing. What
/// had no network goes out after a pause, which counts and costs nothing: no server had anything to do with it. What
/// the server may have acted on is repeated only where it may act twice. What it refused is repeated by its status,
/// unless the server itself says otherwise. Then everything that speaks against it is asked, and last of all the
/// budget, so that nothing is spent on what does not happen.
struct RetryState: Hashable {
  /// What is known of a call.
  struct Subject: Hashable {
    /// Whether a server does the same however often it gets the message.
    var isIdempotent: Bool
    /// Whether the message has an idempotency key.
    var isKeyed: Bool
  }

  /// What is true when an attempt has failed.
  struct Moment {
    /// How long it is to the deadline; `nil`: there is none.
    var remaining: Duration?
    /// A number drawn by lot, from 0 to less than 1.
    var lot: Double
    /// Whether the same content can be sent again.
    var isReplayable: Bool
    /// What the attempt has sent, with all its hops.
    var sent = SentMessages.repeatable
  }

  private enum Proposal {
    case atOnce
    case later(isThrottled: Bool, serverDelay: Duration?, isFree: Bool = false)
    case end(FailedAttempt.EndReason)
  }

  let policy: RetryPolicy
  let budget: RetryBudget
  let subject: Subject
  /// Attempts that count.
  private(set) var count = 1
  private(set) var hasGoneAtOnce = false
  /// Whether the server can have seen the message in any attempt.
  private(set) var wasSent = false
  /// Whether an attempt ended while its answer was awaited.
  private(set) var hasWaited = false
  /// What the last attempt took out of the budget; `nil`: none has.
  private(set) var lastCost: Int?

  init(_ policy: RetryPolicy, _ budget: RetryBudget, _ subject: Subject) {
    (self.policy, self.budget, self.subject) = (policy, budget, subject)
  }

  /// An attempt has failed.
  ///
  /// - Parameter spend: takes so much out of the budget, if there is so much.
  mutating func decision(after failure: AttemptFailure, _ moment: Moment, spend: (Int) -> Bool) -> RetryDecision {
    wasSent = wasSent || failure.wasSent
    hasWaited = hasWaited || failure.isUnanswered
    switch proposal(after: failure, moment.sent) {
    case .end(let reason): return .end(reason)
    case .atOnce:
      guard moment.isReplayable else { return .end(.contentNotReplayable) }
      if let remaining = moment.remaining, remaining <= .zero { return .end(.deadlineTooNear) }
      hasGoneAtOnce = true
      return .again(after: .zero, .notSent)
    case .later(let isThrottled, let serverDelay, let isFree):
      let decision = later(isThrottled, serverDelay, moment)
      guard case .again = decision else { return decision }
      let cost = isFree ? 0 : isThrottled ? budget.throttledCost : budget.cost
      guard spend(cost) else { return .end(.budgetExhausted) }
      (count, lastCost) = (count + 1, cost)
      return decision
    }
  }

  // MARK: Whether

  private func proposal(after failure: AttemptFailure, _ sent: SentMessages) -> Proposal {
    switch failure {
    case .lasting: .end(.notTemporary)
    // An earlier message was sent all the same.
    case .notSent where sent != .repeatable: .end(.notIdempotent)
    // Without a network there is none a moment later either, and no server is spared.
    case .notSent(.offline): .later(isThrottled: false, serverDelay: nil, isFree: true)
    case .notSent: hasGoneAtOnce ? .later(isThrottled: false, serverDelay: nil) : .atOnce
    case .unknown: isRepeatable(sent) ? .later(isThrottled: false, serverDelay: nil) : .end(.notIdempotent)
    case .answered(let answer): proposal(after: answer, sent)
    }
  }

  private func proposal(after answer: AttemptFailure.Answer, _ sent: SentMessages) -> Proposal {
    if let verdict = answer.verdict, !verdict { return .end(.refusedByServer) }
    // The server did nothing: the message came to the wrong place (RFC 9110 §15.5.20).
    let isAtOnce = answer.status == 421 && !hasGoneAtOnce
    guard isAtOnce || answer.verdict == true || isTemporary(answer) else { return .end(.notTemporary) }
    // What a server says of its message says nothing of an earlier hop.
    guard sent != .unrepeatable else { return .end(.notIdempotent) }
    if isAtOnce { return .atOnce }
    let later = Proposal.later(isThrottled: answer.isThrottled, serverDelay: answer.delay)
    if answer.verdict == true { return later }
    let didNothing = answer.delay != nil && (answer.status == 429 || answer.status == 503)
    return isRepeatable(sent) || (policy.repeatsUnsafe && didNothing) ? later : .end(.notIdempotent)
  }

  private func isTemporary(_ answer: AttemptFailure.Answer) -> Bool {
    switch answer.judgement {
    case .temporary: return true
    case .lasting: return false
    case .byStatus: break
    }
    return switch answer.status {
    case 409 where subject.isKeyed: true
    case 413 where answer.delay != nil: true
    default: policy.statuses.contains(answer.status)
    }
  }

  private func isRepeatable(_ sent: SentMessages) -> Bool {
    sent == .repeatable && (subject.isIdempotent || subject.isKeyed)
  }

  // MARK: When

  private func later(_ isThrottled: Bool, _ serverDelay: Duration?, _ moment: Moment) -> RetryDecision {
    guard count < policy.attempts else { return .end(.attemptsUsedUp) }
    guard moment.isReplayable else { return .end(.contentNotReplayable) }
    var pause = longestPause(isThrottled) * moment.lot
    var reason = isThrottled ? FailedAttempt.PauseReason.throttled : .backOff
    if var delay = serverDelay {
      switch policy.serverDelay {
      case .honoured(let limit): if delay > limit { return .end(.serverDelayTooLong) }
      case .clamped(let limit): delay = min(delay, max(.zero, limit))
      }
      // At least so long, and not all at once.
      delay += delay / 10 * moment.lot
      if delay >= pause { (pause, reason) = (delay, .serverDelay) }
    }
    if let remaining = moment.remaining, pause >= remaining { return .end(.deadlineTooNear) }
    return .again(after: pause, reason)
  }

  private func longestPause(_ isThrottled: Bool) -> Duration {
    let limit = max(.zero, policy.longestPause)
    var pause = min(max(.zero, isThrottled ? policy.throttledBase : policy.base), limit)
    for _ in 1..<count where pause < limit { pause = min(limit, pause * 2) }
    return pause
  }
}
