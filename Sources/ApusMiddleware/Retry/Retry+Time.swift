import ApusCore

extension Retry {
  /// The context of a first attempt: whether time is kept for another one, in case it gets no answer.
  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  func leavingTime(_ context: CallContext, _ message: RequestMessage) -> CallContext {
    guard message.content.isReplayable, context.isRepeatable(message.head) else { return context }
    var context = context
    context.leavesTimeForRetry = true
    return context
  }
}

extension RetryState {
  /// Whether time is kept for another attempt, in case the next one gets no answer.
  ///
  /// After an attempt that timed out waiting for its response, the server may just be slow: another attempt that ends as
  /// early would fail the same way, so the next one gets all the remaining time.
  func leavesTime(for message: RequestMessage) -> Bool {
    message.content.isReplayable && !hasWaited && count < policy.attempts && (subject.isIdempotent || subject.isKeyed)
  }
}

extension AttemptFailure {
  /// Whether the request left and its answer did not come in time.
  var isUnanswered: Bool { self == .unknown(.timeout, .maybeSent) }
}
