/// A reading of the clocks that measure the age of stored responses.
struct CacheInstant: Hashable, Sendable {
  /// Milliseconds since 1970 on the wall clock.
  let wall: Int64
  /// Milliseconds on the monotonic clock of this process; `nil` for an instant that was read from a file.
  let monotonic: Int64?

  /// Creates an instant.
  init(wall: Int64, monotonic: Int64? = nil) {
    (self.wall, self.monotonic) = (wall, monotonic)
  }

  /// The seconds since 1970, rounded down.
  var seconds: Int64 { wall / 1000 - (wall % 1000 < 0 ? 1 : 0) }

  /// Returns the milliseconds to a later instant.
  ///
  /// The monotonic clock is used if both instants have it. `nil` if the wall clock was set back: the time is unknown.
  func elapsed(until later: CacheInstant) -> Int64? {
    if let monotonic, let end = later.monotonic { return max(0, end.clampedMinus(monotonic)) }
    let elapsed = later.wall.clampedMinus(wall)
    return elapsed < 0 ? nil : elapsed
  }
}

extension Int64 {
  /// The difference, clamped to a quarter of the range, so that the sum of two differences does not overflow.
  func clampedMinus(_ other: Int64) -> Int64 {
    let (difference, isBeyond) = subtractingReportingOverflow(other)
    guard !isBeyond else { return self < other ? .min / 4 : .max / 4 }
    return Swift.min(Swift.max(difference, .min / 4), .max / 4)
  }
}
