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
    // Attoseconds are added and compared in line; operators of `Duration` are calls, and every call makes dozens.
    let (sum, isBeyond) = sinceStart.attoseconds.addingReportingOverflow(duration.attoseconds)
    let reachable = isBeyond ? (duration < .zero ? -Self.longest : Self.longest) : sum
    return MonotonicInstant(sinceStart: Duration(attoseconds: min(max(reachable, -Self.longest), Self.longest)))
  }

  /// Attoseconds. Sums and differences of such times are durations, and have whole seconds of 64 bits.
  private static var longest: Int128 { 1_000_000_000_000_000_000 << 61 }

  /// The time from this instant to `other`; negative when `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    other.sinceStart - sinceStart
  }

  /// Whether `lhs` is earlier than `rhs`.
  public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
    lhs.sinceStart.attoseconds < rhs.sinceStart.attoseconds
  }
}
