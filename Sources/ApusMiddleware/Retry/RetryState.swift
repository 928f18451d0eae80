import ApusCore

/// The decision after a failed attempt.
typealias RetryDecision = FailedAttempt.Decision

/// The attempts of one call. A pure state machine, driven by ``RetriedCall``, that decides whether a failed attempt is
/// retried, and after which delay.
///
/// - A request that was not sent is retried once immediately, regardless of its method. This retry is free and does not
///   count toward ``RetryPolicy/maximumAttempts``; the trace numbers it like any other attempt.
/// - An attempt without a network is retried after a delay. This retry is free, because it puts no load on a server, and
///   counts toward the maximum.
/// - If the server may have acted, the request is retried only if it may be sent twice.
/// - A rejection is retried depending on its status, unless the server sends a retry hint.
///
/// The budget is checked last, so that nothing is spent on a retry that is not made.
struct RetryState: Hashable {
  /// The properties of a call that determine its retries.
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
    /// Whether the content can be resent.
    var isReplayable: Bool
    /// The messages that the attempt has sent, redirects included.
    var sent = SentMessages.repeatable
  }

  /// Whether and when a failure may be retried, before the content, the number of attempts, the deadline and the budget
  /// are checked.
  private enum Eligibility {
    case atOnce
    case later(isThrottled: Bool, serverDelay: Duration?, isFree: Bool = false)
    case never(FailedAttempt.GiveUpReason)
  }

  let policy: RetryPolicy
  let budget: RetryBudget
  let subject: Subject
  /// The number of attempts that count toward the maximum. The immediate retry does not count.
  private(set) var count = 1
  /// Whether the immediate retry is used up.
  private var hasGoneAtOnce = false
  /// Whether the server may have received the message of any attempt.
  private(set) var wasSent = false
  /// Whether an attempt timed out waiting for its response.
  private var hasTimedOut = false
  /// The cost of the last retry; `nil`: there was none.
  private(set) var lastCost: Int?

  init(_ policy: RetryPolicy, _ budget: RetryBudget, _ subject: Subject) {
    (self.policy, self.budget, self.subject) = (policy, budget, subject)
  }

  /// Whether the next attempt reserves time for a further retry, in case it gets no response.
  ///
  /// After an attempt that timed out waiting for its response, the server may just be slow. Another attempt with the
  /// same timeout would fail the same way, so the next attempt gets all the remaining time.
  func reservesTime(isReplayable: Bool) -> Bool {
    isReplayable && !hasTimedOut && count < policy.maximumAttempts && (subject.isIdempotent || subject.isKeyed)
  }

  /// Returns the decision after a failed attempt.
  ///
  /// - Parameter spend: spends a cost from the retry budget; returns `false` if the budget is too low.
  mutating func decision(after failure: AttemptFailure, _ moment: Moment, spend: (Int) -> Bool) -> RetryDecision {
    wasSent = wasSent || failure.wasSent
    hasTimedOut = hasTimedOut || failure.isUnanswered
    switch eligibility(after: failure, moment.sent) {
    case .never(let reason): return .giveUp(reason)
    case .atOnce:
      guard moment.isReplayable else { return .giveUp(.contentNotReplayable) }
      if let remaining = moment.remaining, remaining <= .zero { return .giveUp(.deadlineTooNear) }
      hasGoneAtOnce = true
      return .retry(after: .zero, .notSent)
    case .later(let isThrottled, let serverDelay, let isFree):
      let decision = later(isThrottled, serverDelay, moment)
      guard case .retry = decision else { return decision }
      let cost = isFree ? 0 : isThrottled ? budget.throttledCost : budget.cost
      guard spend(cost) else { return .giveUp(.budgetExhausted) }
      (count, lastCost) = (count + 1, cost)
      return decision
    }
  }

  // MARK: Whether to retry

  private func eligibility(after failure: AttemptFailure, _ sent: SentMessages) -> Eligibility {
    switch failure {
    case .lasting: .never(.notTemporary)
    // An earlier hop of the redirected attempt was sent.
    case .notSent where sent != .repeatable: .never(.notIdempotent)
    // An immediate retry would find no network either. A later retry is free, because it puts no load on a server.
    case .notSent(.offline): .later(isThrottled: false, serverDelay: nil, isFree: true)
    case .notSent: hasGoneAtOnce ? .later(isThrottled: false, serverDelay: nil) : .atOnce
    case .unknown: isRepeatable(sent) ? .later(isThrottled: false, serverDelay: nil) : .never(.notIdempotent)
    case .responded(let response): eligibility(after: response, sent)
    }
  }

  private func eligibility(after response: AttemptFailure.Response, _ sent: SentMessages) -> Eligibility {
    if response.retryHint == false { return .never(.forbiddenByServer) }
    // 421: the server did not process the misdirected request (RFC 9110 §15.5.20).
    let isAtOnce = response.status == 421 && !hasGoneAtOnce
    guard isAtOnce || response.retryHint == true || isTemporary(response) else { return .never(.notTemporary) }
    // The response to the last message is no evidence about an earlier hop.
    guard sent != .unrepeatable else { return .never(.notIdempotent) }
    if isAtOnce { return .atOnce }
    let later = Eligibility.later(isThrottled: response.isThrottled, serverDelay: response.delay)
    if response.retryHint == true { return later }
    let didNothing = response.delay != nil && (response.status == 429 || response.status == 503)
    return isRepeatable(sent) || (policy.retriesNonIdempotent && didNothing) ? later : .never(.notIdempotent)
  }

  private func isTemporary(_ response: AttemptFailure.Response) -> Bool {
    switch response.ruleDecision {
    case .temporary: return true
    case .permanent: return false
    case .byStatus: break
    }
    return switch response.status {
    case 409 where subject.isKeyed: true
    case 413 where response.delay != nil: true
    default: policy.statuses.contains(response.status)
    }
  }

  private func isRepeatable(_ sent: SentMessages) -> Bool {
    sent == .repeatable && (subject.isIdempotent || subject.isKeyed)
  }

  // MARK: When to retry

  private func later(_ isThrottled: Bool, _ serverDelay: Duration?, _ moment: Moment) -> RetryDecision {
    guard count < policy.maximumAttempts else { return .giveUp(.attemptsExhausted) }
    guard moment.isReplayable else { return .giveUp(.contentNotReplayable) }
    var pause = delayBound(isThrottled) * moment.jitter
    var reason = isThrottled ? FailedAttempt.DelayReason.throttled : .backoff
    if var delay = serverDelay {
      switch policy.serverDelay {
      case .honored(let limit): if delay > limit { return .giveUp(.serverDelayTooLong) }
      case .clamped(let limit): delay = min(delay, max(.zero, limit))
      }
      // The jitter is added to the full delay, and spreads the retries of many clients.
      delay += delay / 10 * moment.jitter
      if delay >= pause { (pause, reason) = (delay, .serverDelay) }
    }
    if let remaining = moment.remaining, pause >= remaining { return .giveUp(.deadlineTooNear) }
    return .retry(after: pause, reason)
  }

  private func delayBound(_ isThrottled: Bool) -> Duration {
    let limit = max(.zero, policy.maximumDelay)
    var pause = min(max(.zero, isThrottled ? policy.throttledBaseDelay : policy.baseDelay), limit)
    for _ in 1..<count where pause < limit { pause = min(limit, pause * 2) }
    return pause
  }
}
