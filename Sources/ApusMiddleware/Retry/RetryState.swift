import ApusCore

/// The decision after a failed attempt.
typealias RetryDecision = FailedAttempt.Decision

/// The attempts of one call. A pure state machine, driven by ``RetriedCall``: it decides whether a failed attempt is
/// retried, and after which delay.
///
/// - A request that was not sent is retried once at once, whatever its method; that counts as no attempt and is free.
/// - An attempt without a network is retried after a delay, which counts and is free: it cost no server anything.
/// - If the server may have acted, the request is retried only if it may be sent twice.
/// - A rejection is retried by its status, unless the server says otherwise.
///
/// The budget is asked last, so that nothing is spent on a retry that does not happen.
struct RetryState: Hashable {
  /// The properties of a call that matter to retries.
  struct Subject: Hashable {
    /// Whether sending the message several times has the effect of sending it once.
    var isIdempotent: Bool
    /// Whether the message carries an idempotency key.
    var isKeyed: Bool
  }

  /// The circumstances in which an attempt failed.
  struct Moment {
    /// The time to the deadline; `nil`: there is none.
    var remaining: Duration?
    /// A random number from 0 to less than 1.
    var jitter: Double
    /// Whether the content can be sent again.
    var isReplayable: Bool
    /// What the attempt has sent, redirects included.
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
  /// The number of attempts that count.
  private(set) var count = 1
  /// Whether the immediate retry is used up.
  private var hasGoneAtOnce = false
  /// Whether the server can have seen the message of any attempt.
  private(set) var wasSent = false
  /// Whether an attempt timed out waiting for its response.
  private var hasTimedOut = false
  /// The cost of the last retry; `nil`: there was none.
  private(set) var lastCost: Int?

  init(_ policy: RetryPolicy, _ budget: RetryBudget, _ subject: Subject) {
    (self.policy, self.budget, self.subject) = (policy, budget, subject)
  }

  /// Whether the next attempt reserves time for another one, in case it gets no response.
  ///
  /// After an attempt that timed out waiting for its response the server may just be slow. Another attempt that ends as
  /// early would fail the same way, so the next one gets all the remaining time.
  func reservesTime(isReplayable: Bool) -> Bool {
    isReplayable && !hasTimedOut && count < policy.attempts && (subject.isIdempotent || subject.isKeyed)
  }

  /// Decides about a failed attempt.
  ///
  /// - Parameter spend: spends a cost from the retry budget; returns `false` if the budget is too low.
  mutating func decision(after failure: AttemptFailure, _ moment: Moment, spend: (Int) -> Bool) -> RetryDecision {
    wasSent = wasSent || failure.wasSent
    hasTimedOut = hasTimedOut || failure.isUnanswered
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
    // An earlier hop was sent all the same.
    case .notSent where sent != .repeatable: .end(.notIdempotent)
    // An immediate retry would find no network either, and the retry costs no server anything.
    case .notSent(.offline): .later(isThrottled: false, serverDelay: nil, isFree: true)
    case .notSent: hasGoneAtOnce ? .later(isThrottled: false, serverDelay: nil) : .atOnce
    case .unknown: isRepeatable(sent) ? .later(isThrottled: false, serverDelay: nil) : .end(.notIdempotent)
    case .answered(let answer): proposal(after: answer, sent)
    }
  }

  private func proposal(after answer: AttemptFailure.Answer, _ sent: SentMessages) -> Proposal {
    if let verdict = answer.verdict, !verdict { return .end(.refusedByServer) }
    // 421: the server did not process the misdirected request (RFC 9110 §15.5.20).
    let isAtOnce = answer.status == 421 && !hasGoneAtOnce
    guard isAtOnce || answer.verdict == true || isTemporary(answer) else { return .end(.notTemporary) }
    // The response to the last message says nothing about an earlier hop.
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
    var pause = longestPause(isThrottled) * moment.jitter
    var reason = isThrottled ? FailedAttempt.PauseReason.throttled : .backOff
    if var delay = serverDelay {
      switch policy.serverDelay {
      case .honoured(let limit): if delay > limit { return .end(.serverDelayTooLong) }
      case .clamped(let limit): delay = min(delay, max(.zero, limit))
      }
      // The full delay at least; the jitter spreads the clients.
      delay += delay / 10 * moment.jitter
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
