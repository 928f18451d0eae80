/// The state of a reader that reads one piece ahead of its consumer, so that reading and sending overlap. Pure.
///
/// At most one piece is being read, and at most one further piece waits for its consumer, so memory is bounded.
struct ReadAhead<Piece: Sendable, Waiter> {
  /// The result of reading: a piece, `nil` at the end, or an error, after which nothing is read.
  typealias Outcome = Result<Piece?, any Error>

  /// The actions to perform.
  struct Actions {
    /// The waiter to resume, which then calls ``take()``.
    var waiter: Waiter?
    /// Whether to read the next piece.
    var reads = false
  }

  private enum State {
    /// Nothing has been read yet.
    case idle
    case reading
    /// Reading for a waiter.
    case awaited(Waiter)
    case ready(Outcome)
    /// The end or an error has been delivered.
    case ended
  }

  private var state = State.idle
  /// The result for the waiter that was resumed.
  private var delivered: Outcome?

  /// Waits for the next piece. Called by one consumer at a time.
  mutating func wait(_ waiter: Waiter) -> Actions {
    switch state {
    case .idle:
      state = .awaited(waiter)
      return Actions(reads: true)
    case .reading:
      state = .awaited(waiter)
      return Actions()
    case .ready(let outcome): return deliver(outcome, to: waiter)
    case .awaited, .ended: return Actions(waiter: waiter)
    }
  }

  /// Returns the result for which a waiter was resumed.
  mutating func take() -> Outcome { delivered.take() ?? .success(nil) }

  /// Ends the reading of a piece.
  mutating func finish(_ outcome: Outcome) -> Actions {
    guard case .awaited(let waiter) = state else {
      state = .ready(outcome)
      return Actions()
    }
    return deliver(outcome, to: waiter)
  }

  private mutating func deliver(_ outcome: Outcome, to waiter: Waiter) -> Actions {
    var continues = false
    if case .success(.some) = outcome { continues = true }
    state = continues ? .reading : .ended
    delivered = outcome
    return Actions(waiter: waiter, reads: continues)
  }
}
