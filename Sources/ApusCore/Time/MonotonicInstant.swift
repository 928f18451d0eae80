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

  /// The instant `duration` later, as far as a clock goes: 2⁶¹ seconds from its start.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    // Each call does this several times: what is usual is asked first.
    if duration >= .zero, duration <= Self.longest {
      let sum = sinceStart + duration
      return MonotonicInstant(sinceStart: sum <= Self.longest ? sum : Self.longest)
    }
    return MonotonicInstant(sinceStart: Self.within(sinceStart + Self.within(duration)))
  }

  /// Sums and differences of such times are durations, and have whole seconds of 64 bits.
  private static func within(_ duration: Duration) -> Duration {
    min(max(duration, .zero - longest), longest)
  }

  private static let longest = Duration.seconds(1 << 61 as Int64)

  /// The time from this instant to `other`; negative when `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    other.sinceStart - sinceStart
  }

  /// Whether `lhs` is earlier than `rhs`.
  public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
    lhs.sinceStart < rhs.sinceStart
  }
}
