import ApusCore

/// Tokens that come back steadily: pure, and without rounding.
///
/// What is kept is the instant at which the bucket will be full again, not a count, so nothing has to be added up as
/// time goes by. Who takes more than fits in waits for a full bucket, and leaves it in debt.
struct TokenBucket: Hashable {
  let limit: RateLimit
  /// When it will be full again, or since when it is.
  private(set) var fullAt = MonotonicInstant(sinceStart: .zero)

  /// A full bucket.
  init(_ limit: RateLimit) {
    self.limit = limit
  }

  /// The earliest instant, not before `now`, at which so many tokens are there.
  func availability(of cost: Int, at now: MonotonicInstant) -> MonotonicInstant {
    let needed = limit.interval * (min(max(cost, 0), limit.burst) - limit.burst)
    return max(now, fullAt.advanced(by: needed))
  }

  /// Takes tokens at an instant, whether they are there or not.
  mutating func take(_ cost: Int, at now: MonotonicInstant) {
    fullAt = max(now, fullAt).advanced(by: limit.interval * min(max(cost, 0), RateLimit.most))
  }

  /// Whether it is full.
  func isFull(at now: MonotonicInstant) -> Bool { fullAt <= now }
}
