/// A failed attempt and the retry decision that followed. The retry middleware creates such a record for each failed
/// attempt.
///
/// An attempt that ends because the call was cancelled or its deadline passed is not recorded: it did not fail.
public struct FailedAttempt: Sendable, Hashable {
  /// The cause of an attempt's failure.
  package enum Cause: Sendable, Hashable {
    /// The server responded with this status.
    case status(Int)
    /// No complete response arrived: the code that the call's error would have, and whether the request was sent.
    case failed(CallError.Code, RequestState)
  }

  /// The attempt's number, from 1.
  public let attempt: Int
  /// The instants at which the attempt began and failed, on the client's clock.
  package let time: ClosedRange<MonotonicInstant>
  /// The cause of the failure.
  package let cause: Cause
  /// The retry decision and its reason.
  package let decision: Decision

  /// Creates a record of a failed attempt.
  package init(_ attempt: Int, in time: ClosedRange<MonotonicInstant>, _ cause: Cause, _ decision: Decision) {
    self.attempt = attempt
    self.time = time
    self.cause = cause
    self.decision = decision
  }

  /// The duration of the attempt.
  public var duration: Duration { time.lowerBound.duration(to: time.upperBound) }

  /// The status of the response, or `nil` if no complete response arrived.
  public var status: Int? {
    guard case .status(let status) = cause else { return nil }
    return status
  }

  /// The code of the error that a call with only this attempt would have thrown.
  public var code: CallError.Code {
    guard case .failed(let code, _) = cause else { return .rejected }
    return code
  }

  /// The delay before the retry that followed, or `nil` if no retry followed.
  public var retryDelay: Duration? {
    guard case .retry(let delay, _) = decision else { return nil }
    return delay
  }

  /// The reason why no retry followed, or `nil` if a retry followed.
  public var giveUpReason: GiveUpReason? {
    guard case .giveUp(let reason) = decision else { return nil }
    return reason
  }

  /// Whether the immediate retry followed, which does not count toward the maximum of the retry policy.
  var isRetriedAtOnce: Bool { decision == .retry(after: .zero, .notSent) }

  /// Whether the server may have received the request.
  var wasSent: Bool {
    if case .failed(_, .notSent) = cause { return false }
    return true
  }
}

extension FailedAttempt.Cause: CustomStringConvertible {
  /// The status, or the error code and the state of the request.
  package var description: String {
    switch self {
    case .status(let status): "status \(status)"
    case .failed(let code, let state): "\(code.rawValue) (\(state))"
    }
  }
}

extension FailedAttempt: CustomStringConvertible {
  /// The cause and the decision on one line.
  public var description: String { "\(cause): \(decision)" }
}

extension Trace {
  /// The failed attempts in order, each with its cause and the decision that followed: a retry after a delay, or the
  /// reason for giving up. Empty if retries are disabled in the pipeline or for the call.
  public var failedAttempts: [FailedAttempt] {
    events.compactMap { event -> FailedAttempt? in
      guard case .attemptFailed(let attempt) = event.kind else { return nil }
      return attempt
    }
  }
}

extension FailedAttempt {
  /// The decision after a failed attempt.
  package enum Decision: Sendable, Hashable {
    /// The call is retried after this delay.
    case retry(after: Duration, DelayReason)
    /// The call fails.
    case giveUp(GiveUpReason)
  }

  /// The reason for the delay before a retry.
  package enum DelayReason: Sendable, Hashable, CaseIterable {
    /// Nothing was sent, so the call is retried once without a delay.
    case notSent
    /// Exponential backoff with full jitter.
    case backoff
    /// Exponential backoff with full jitter, with the longer delays for a server that throttles.
    case throttled
    /// The delay that the server requested.
    case serverDelay
  }

  /// The reason why a call is not retried.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum GiveUpReason: Sendable, Hashable, CaseIterable {
    /// The failure is not temporary.
    case notTemporary
    /// The maximum number of attempts is reached.
    case attemptsExhausted
    /// The server may have acted on the request, and the request is not idempotent.
    case notIdempotent
    /// The content (body) can be sent only once.
    case contentNotReplayable
    /// The server requested that the call is not retried.
    case forbiddenByServer
    /// The delay that the server requested is longer than the policy allows.
    case serverDelayTooLong
    /// The call's deadline would pass before the next attempt.
    case deadlineTooNear
    /// The retry budget of the origin is exhausted.
    case budgetExhausted
  }
}

extension FailedAttempt.Decision: CustomStringConvertible {
  /// The decision and its reason.
  package var description: String {
    switch self {
    case .retry(let delay, let reason): "retry in \(Trace.milliseconds(delay)) ms, \(reason)"
    case .giveUp(let reason): "no retry, \(reason)"
    }
  }
}

extension FailedAttempt.DelayReason: CustomStringConvertible {
  /// The reason as a phrase.
  package var description: String {
    switch self {
    case .notSent: "nothing was sent"
    case .backoff: "backoff with jitter"
    case .throttled: "backoff with jitter for a throttling server"
    case .serverDelay: "as the server asked"
    }
  }
}

extension FailedAttempt.GiveUpReason: CustomStringConvertible {
  /// The reason as a phrase.
  public var description: String {
    switch self {
    case .notTemporary: "the failure is not temporary"
    case .attemptsExhausted: "the maximum number of attempts is reached"
    case .notIdempotent: "the server may have acted on the request"
    case .contentNotReplayable: "the content can be sent only once"
    case .forbiddenByServer: "the server asked not to retry"
    case .serverDelayTooLong: "the delay that the server asked for is too long"
    case .deadlineTooNear: "the deadline would pass before the next attempt"
    case .budgetExhausted: "the retry budget for this server is exhausted"
    }
  }
}
