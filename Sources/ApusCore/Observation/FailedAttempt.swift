/// An attempt that failed, and what was decided then: whatever repeats attempts writes one into the trace for each.
///
/// An attempt during which the call was cancelled, or its deadline passed, is none of them: it did not fail.
public struct FailedAttempt: Sendable, Hashable {
  /// How an attempt failed.
  public enum Cause: Sendable, Hashable {
    /// The server answered with this status.
    case answered(status: Int)
    /// There was no whole answer: the code that the call's error would have, and whether the request had left.
    case failed(ErrorCode, RequestState)
  }

  /// Its number, from 1.
  public let attempt: Int
  /// When it began and when it had failed, on the client's clock.
  public let time: ClosedRange<MonotonicInstant>
  /// How it failed.
  public let cause: Cause
  /// What was decided then.
  public let decision: Decision

  /// Puts an attempt down.
  public init(_ attempt: Int, in time: ClosedRange<MonotonicInstant>, _ cause: Cause, _ decision: Decision) {
    self.attempt = attempt
    self.time = time
    self.cause = cause
    self.decision = decision
  }

  /// How long it took.
  public var duration: Duration { time.lowerBound.duration(to: time.upperBound) }

  /// Whether the server can have seen the request.
  var wasSent: Bool {
    if case .failed(_, .notSent) = cause { return false }
    return true
  }
}

extension FailedAttempt.Cause: CustomStringConvertible {
  /// The status, or the code and whether the request had left.
  public var description: String {
    switch self {
    case .answered(let status): "status \(status)"
    case .failed(let code, let state): "\(code.rawValue) (\(state.rawValue))"
    }
  }
}

extension FailedAttempt: CustomStringConvertible {
  /// How it failed and what was decided, in one line.
  public var description: String { "\(cause): \(decision)" }
}

extension Trace {
  /// The attempts that failed, in order: empty where nothing in the pipeline repeats attempts.
  public var failedAttempts: [FailedAttempt] {
    events.compactMap { event -> FailedAttempt? in
      guard case .attemptFailed(let attempt) = event.kind else { return nil }
      return attempt
    }
  }
}

extension FailedAttempt {
  /// What follows from an attempt that failed.
  public enum Decision: Sendable, Hashable {
    /// Another one, after this time.
    case again(after: Duration, PauseReason)
    /// The failure is the call's.
    case end(EndReason)
  }

  /// Why the next attempt begins when it does.
  public enum PauseReason: String, Sendable, Hashable, CaseIterable {
    /// Nothing had been sent: there is one more at once.
    case notSent
    /// A time drawn by lot, which may be longer after each attempt.
    case backOff
    /// The same after the server said that there are too many requests.
    case throttled
    /// The server said how long to wait.
    case serverDelay
  }

  /// Why there is no further attempt.
  public enum EndReason: String, Sendable, Hashable, CaseIterable {
    /// Failures of this kind are not tried again.
    case notTemporary
    /// There were as many as are allowed.
    case attemptsUsedUp
    /// The server may have acted on the request, and may act twice.
    case notIdempotent
    /// The content can be sent only once.
    case contentNotReplayable
    /// The server said that it should not be tried again.
    case refusedByServer
    /// The server asks to wait longer than is waited.
    case serverDelayTooLong
    /// The call's deadline would pass before.
    case deadlineTooNear
    /// The budget for repeated attempts at this server is used up.
    case budgetExhausted
  }
}

extension FailedAttempt.Decision: CustomStringConvertible {
  /// The decision with its reason.
  public var description: String {
    switch self {
    case .again(let pause, let reason): "again after \(Trace.milliseconds(pause)) ms, \(reason)"
    case .end(let reason): "not again, \(reason)"
    }
  }
}

extension FailedAttempt.PauseReason: CustomStringConvertible {
  /// The reason in half a sentence.
  public var description: String {
    switch self {
    case .notSent: "since nothing was sent"
    case .backOff: "a time drawn by lot"
    case .throttled: "a time drawn by lot, since the server has too many requests"
    case .serverDelay: "as the server asks"
    }
  }
}

extension FailedAttempt.EndReason: CustomStringConvertible {
  /// The reason in half a sentence.
  public var description: String {
    switch self {
    case .notTemporary: "since it would fail again"
    case .attemptsUsedUp: "since all attempts are used up"
    case .notIdempotent: "since the server may have acted on it already"
    case .contentNotReplayable: "since the content can be sent only once"
    case .refusedByServer: "since the server says so"
    case .serverDelayTooLong: "since the server asks to wait too long"
    case .deadlineTooNear: "since the deadline is nearer than the next attempt"
    case .budgetExhausted: "since the budget for further attempts at this server is used up"
    }
  }
}
