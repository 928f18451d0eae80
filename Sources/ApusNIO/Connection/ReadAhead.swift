#if NIO
/// The state of a reader that reads one piece ahead of its consumer, so that reading and sending overlap. Pure.
///
/// At most one piece is read at a time, and at most one waits to be taken, so memory is bounded.
struct ReadAhead<Piece: Sendable, Waiter> {
  /// The result of reading: a piece, `nil` at the end, or an error, after which nothing is read.
  typealias Outcome = Result<Piece?, any Error>

  /// The actions to perform.
  struct Actions {
    /// The waiter to resume.
    var delivery: (waiter: Waiter, outcome: Outcome)?
    /// Whether to read the next piece.
    var reads = false
  }

  private enum State {
    /// Nothing has been taken yet.
    case idle
    case reading
    /// Reading for a waiter.
    case awaited(Waiter)
    case ready(Outcome)
    /// The end or an error has been delivered.
    case ended
  }

  private var state = State.idle

  /// Takes the next piece. Called by one consumer at a time.
  mutating func take(_ waiter: Waiter) -> Actions {
    switch state {
    case .idle:
      state = .awaited(waiter)
      return Actions(reads: true)
    case .reading:
      state = .awaited(waiter)
      return Actions()
    case .ready(let outcome): return deliver(outcome, to: waiter)
    case .awaited, .ended: return Actions(delivery: (waiter, .success(nil)))
    }
  }

  /// A piece was read.
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
    return Actions(delivery: (waiter, outcome), reads: continues)
  }
}
#endif
