import ApusCore
import HTTPTypes

/// One call whose first attempt failed, or may have: performs what a ``RetryState`` decides.
struct RetriedCall {
  /// What an attempt gave.
  enum Outcome {
    case answered(ResponseMessage)
    case failed(TransportError)
  }

  /// What follows from it.
  enum Step {
    case end(ResponseMessage)
    case again(after: Duration)
  }

  let message: RequestMessage
  /// Where the content can be sent only once.
  let content: OneTimeContent?
  let budgets: RetryBudgets
  let next: Next
  var context: CallContext
  var state: RetryState

  /// Goes on until an attempt is the last.
  mutating func goOn(with first: Step) async throws -> ResponseMessage {
    var step = first
    while true {
      switch step {
      case .end(let response): return response
      case .again(let pause):
        try await rest(pause)
        step = try await attempt()
      }
    }
  }

  /// What follows from an attempt. A refusal that is not the last is given up.
  ///
  /// - Throws: an error that is the last.
  mutating func step(after outcome: Outcome, since start: MonotonicInstant) throws -> Step {
    switch outcome {
    case .answered(let response):
      if response.head.status.code < 400 {
        budgets.succeeded(message, lastCost: state.lastCost)
        return .end(response)
      }
      let failure = AttemptFailure(response, state.policy)
      guard case .again(let pause, _)? = decide(on: failure, since: start) else { return .end(response) }
      response.discard()
      return .again(after: pause)
    case .failed(var error):
      guard case .again(let pause, _)? = decide(on: AttemptFailure(error), since: start) else {
        // What this attempt did not send, an earlier one did: it may have been acted upon.
        if error.requestState == .notSent, state.wasSent { error.requestState = .maybeSent }
        throw OfflineRefusal.unmarked(error)
      }
      return .again(after: pause)
    }
  }

  /// Nothing is held meanwhile: no answer, no permit, no connection.
  private func rest(_ pause: Duration) async throws {
    if pause > .zero { try await context.clock.sleep(until: context.now.advanced(by: pause)) }
    try Task.checkCancellation()
  }

  private mutating func attempt() async throws -> Step {
    context.attempt += 1
    context.leavesTimeForRetry = state.leavesTime(for: message)
    context.record(.attemptStarted)
    let start = context.now
    let outcome: Outcome
    do {
      let response = try await next(message, context: context)
      outcome = .answered(response)
    } catch let error as TransportError {
      outcome = .failed(error)
    }
    return try step(after: outcome, since: start)
  }

  /// - Returns: `nil` for a call that is over anyway.
  private mutating func decide(on failure: AttemptFailure, since start: MonotonicInstant) -> RetryDecision? {
    guard !Task.isCancelled else { return nil }
    let now = context.now
    let moment = RetryState.Moment(
      remaining: context.remaining, lot: Double(context.random() >> 11) * 0x1p-53,
      isReplayable: content.map(\.isUntouched) ?? message.content.isReplayable, sent: context.sentMessages)
    let (budgets, origin) = (budgets, message.origin)
    let decision = state.decision(after: failure, moment) { budgets.withdraw($0, at: origin) }
    context.record(
      .attemptFailed(FailedAttempt(context.attempt, in: start...max(start, now), failure.cause, decision)))
    return decision
  }
}
