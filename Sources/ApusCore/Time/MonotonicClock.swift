/// The clock that calls are timed and limited with.
///
/// A seam: clients use ``SystemClock`` unless a test hands them a clock it moves by hand.
public protocol MonotonicClock: Sendable {
  /// The present instant.
  var now: MonotonicInstant { get }

  /// Returns once the clock has reached `instant`.
  ///
  /// - Throws: `CancellationError` when the calling task is cancelled first.
  func sleep(until instant: MonotonicInstant) async throws
}

/// The machine's continuous clock: monotonic, and running while the machine sleeps.
public struct SystemClock: MonotonicClock {
  private static let start = ContinuousClock.now
  private static let longestSleep = Duration.seconds(24 * 60 * 60)

  /// Makes a clock; all of them share one start.
  public init() {}

  /// The present instant.
  public var now: MonotonicInstant {
    MonotonicInstant(sinceStart: Self.start.duration(to: .now))
  }

  /// Suspends the task until the clock has reached `instant`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func sleep(until instant: MonotonicInstant) async throws {
    // The system's sleep traps where an instant has more nanoseconds than 64 bits hold, as "no limit at all" has:
    // distant instants are slept towards in steps.
    while true {
      let now = now
      let step = min(instant, now.advanced(by: Self.longestSleep))
      try await Task.sleep(until: Self.start.advanced(by: step.sinceStart), tolerance: nil, clock: .continuous)
      if step == instant { return }
    }
  }
}

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
