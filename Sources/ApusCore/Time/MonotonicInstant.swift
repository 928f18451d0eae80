/// A point on a monotonic clock, counted from that clock's own start.
///
/// Instants of one clock can be compared and subtracted; they say nothing about the time of day and
/// never jump when the wall clock is set.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
  /// Time passed since the clock's start.
  public var sinceStart: Duration

  /// Makes the instant that lies `sinceStart` after the clock's start.
  public init(sinceStart: Duration) {
    self.sinceStart = sinceStart
  }

  /// The instant `duration` later.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    MonotonicInstant(sinceStart: sinceStart + duration)
  }

  /// The time from this instant to `other`; negative when `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    other.sinceStart - sinceStart
  }

  /// Whether `lhs` is earlier than `rhs`.
  public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
    lhs.sinceStart < rhs.sinceStart
  }
}
