extension CallState {
  /// Whether a limit depends on how content moves: this call's, or that of another one for which its exchange is made.
  var heedsMovement: Bool { limits.standard != nil || sharesExchange }

  /// Follows how content moves: it does from a report of progress on, and no more once all of it has, its exchange is
  /// over, or another one begins.
  mutating func follow(_ event: TraceEvent) {
    switch event.kind {
    case .sendProgress(let sent, let expected): moved(toSent: sent, of: expected, at: event.instant)
    // An answer that began before the request was complete may be moving.
    case .requestSent: if !limits.movement.isAnswered { limits.movement.paused(at: event.instant) }
    case .exchangeStarted:
      limits.movement.isAnswered = false
      limits.movement.paused(at: event.instant)
    case .contentArrived, .redirected, .awaitingCredentials, .queued, .attemptFailed:
      limits.movement.paused(at: event.instant)
    default: break
    }
  }

  private mutating func moved(toSent sent: Int64, of expected: Int64?, at now: MonotonicInstant) {
    let count = sent - sentBytes
    (sentBytes, expectedSendBytes) = (sent, expected)
    guard heedsMovement else { return }
    limits.movement.moved(count, at: now)
    if let expected, sent >= expected, !limits.movement.isAnswered { limits.movement.paused(at: now) }
  }

  /// The alarm of the limits rang. Answers what follows.
  mutating func alarmRang(at now: MonotonicInstant, _ shared: ContentMovement?) -> CallLimits.Ring {
    isEnded || reason != nil ? .nothing : limits.rang(at: now, shared)
  }
}
