/// An attempt that failed, and what was decided then: whatever repeats attempts writes one into the trace for each.
///
/// An attempt during which the call was cancelled, or its deadline passed, is none of them: it did not fail.
public struct FailedAttempt: Sendable, Hashable {
  /// How an attempt failed.
  public enum Cause: Sendable, Hashable {
    /// The server answered with this status.
    case answered(status: Int)
    /// There was no whole answer: the code that the call's error would have, and whether the request had left.
    case failed(CallError.Code, RequestState)
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

extension CallError {
  /// The attempts that failed, in order, each with its time, what it failed with, and what was decided then: how long
  /// to wait and why, or why there was no further one.
  ///
  /// Empty where nothing in the pipeline repeats attempts, and for calls that say so themselves.
  public var failedAttempts: [FailedAttempt] { trace.failedAttempts }

  /// Whether there would have been another attempt, had its server's budget for them not been used up by others.
  public var isRetryBudgetExhausted: Bool {
    failedAttempts.last?.decision == .end(.budgetExhausted)
  }
}
