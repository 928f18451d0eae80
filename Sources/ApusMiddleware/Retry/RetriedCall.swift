import ApusCore
import HTTPTypes
import Synchronization

/// A call whose first attempt may be retried. A ``RetryState`` makes the decisions.
struct RetriedCall {
  /// The outcome of an attempt. Indirect, because the frames of waiting calls contain it.
  indirect enum Outcome {
    case responded(ResponseMessage)
    case failed(TransportError)
  }

  /// The step after an attempt.
  enum Step {
    case end(ResponseMessage)
    case again(after: Duration)
  }

  let message: RequestMessage
  /// The content that can be sent only once; `nil`: the content is replayable.
  let content: OneTimeContent?
  let budgets: RetryBudgets
  let next: Next
  var context: CallContext
  var state: RetryState

  /// Performs attempts until the call ends.
  mutating func run(from first: Step) async throws -> ResponseMessage {
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

  /// Determines the step after an attempt. Discards the response if the attempt is retried.
  ///
  /// - Throws: the error of the last attempt.
  mutating func step(after outcome: Outcome, since start: MonotonicInstant) throws -> Step {
    switch outcome {
    case .responded(let response):
      if response.statusCode < 400 {
        budgets.succeeded(message, lastCost: state.lastCost)
        return .end(response)
      }
      let failure = AttemptFailure(response, state.policy)
      guard case .retry(let pause, _)? = decide(on: failure, since: start) else { return .end(response) }
      response.discard()
      return .again(after: pause)
    case .failed(var error):
      guard case .retry(let pause, _)? = decide(on: AttemptFailure(error), since: start) else {
        // An earlier attempt was sent, and the server may have acted on that request.
        if error.requestState == .notSent, state.wasSent { error.requestState = .maybeSent }
        throw OfflineRefusal.unmarked(error)
      }
      return .again(after: pause)
    }
  }

  /// Waits until the next attempt begins. During the wait the call holds no response, permit or connection.
  private func rest(_ pause: Duration) async throws {
    if pause > .zero { try await context.clock.sleep(until: context.now.advanced(by: pause)) }
    try Task.checkCancellation()
  }

  private mutating func attempt() async throws -> Step {
    context.attempt += 1
    context.leavesTimeForRetry = state.reservesTime(isReplayable: message.content.isReplayable)
    context.record(.attemptStarted)
    let start = context.now
    let outcome: Outcome
    do {
      let response = try await next(message, context: context)
      outcome = .responded(response)
    } catch let error as TransportError {
      outcome = .failed(error)
    }
    return try step(after: outcome, since: start)
  }

  /// - Returns: `nil` for a call that was cancelled.
  private mutating func decide(on failure: AttemptFailure, since start: MonotonicInstant) -> RetryDecision? {
    guard !Task.isCancelled else { return nil }
    let now = context.now
    let moment = RetryState.Moment(
      remaining: context.remaining, jitter: Double(context.random() >> 11) * 0x1p-53,
      isReplayable: content.map(\.isUntouched) ?? message.content.isReplayable, sent: context.sentMessages)
    let (budgets, origin) = (budgets, message.origin)
    let decision = state.decision(after: failure, moment) { budgets.withdraw($0, at: origin) }
    context.record(
      .attemptFailed(FailedAttempt(context.attempt, in: start...max(start, now), failure.cause, decision)))
    return decision
  }
}

/// Content that can be read only once. It can be resent as long as no attempt has begun to read it.
struct OneTimeContent {
  private final class Use: Sendable {
    let hasBegun = Atomic(false)
  }

  /// The content to send instead, which records the beginning of reading.
  let content: MessageContent
  private let use: Use

  /// - Returns: `nil` for replayable content.
  init?(_ content: MessageContent) {
    guard !content.isReplayable else { return nil }
    use = Use()
    self.content = Self.content(content, observedBy: use)
  }

  private static func content(_ content: MessageContent, observedBy use: Use) -> MessageContent {
    switch content {
    case .stream(let stream) where !stream.isReplayable:
      .stream(
        ContentStream(length: stream.length, isReplayable: false) {
          use.hasBegun.store(true, ordering: .releasing)
          return try stream.makePieces()
        })
    case .joined(let contents): .joined(contents.map { self.content($0, observedBy: use) })
    default: content
    }
  }

  /// Whether no attempt has begun to read the content.
  var isUntouched: Bool { !use.hasBegun.load(ordering: .acquiring) }
}
