/// The clock of a client, which measures and limits its calls.
///
/// Clients use ``SystemClock``. Tests replace it with a clock of virtual time.
public protocol MonotonicClock: Sendable {
  /// The current instant.
  var now: MonotonicInstant { get }

  /// Suspends the task until the clock has reached `instant`.
  ///
  /// - Throws: `CancellationError` if the task is cancelled first.
  func sleep(until instant: MonotonicInstant) async throws
}

/// The system's monotonic clock, which continues while the system sleeps.
public struct SystemClock: MonotonicClock {
  private static let start = ContinuousClock.now
  private static let longestSleep = Duration.seconds(24 * 60 * 60)

  /// Creates a clock. Instants of all system clocks are comparable.
  public init() {}

  /// The current instant.
  public var now: MonotonicInstant {
    MonotonicInstant(sinceStart: Self.start.duration(to: .now))
  }

  /// Suspends the task until the clock has reached `instant`.
  ///
  /// - Throws: `CancellationError` if the task is cancelled first.
  public func sleep(until instant: MonotonicInstant) async throws {
    // The system's sleep traps if the nanoseconds of an instant exceed 64 bits, so distant instants take several steps.
    while true {
      let now = now
      let step = min(instant, now.advanced(by: Self.longestSleep))
      try await Task.sleep(until: Self.start.advanced(by: step.sinceStart), tolerance: nil, clock: .continuous)
      if step == instant { return }
    }
  }
}

/// A point in time on a monotonic clock, relative to the clock's start.
///
/// Instants of the same clock can be compared and subtracted. They are unrelated to the time of day and never jump when
/// the wall clock is set.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
  /// The time since the clock's start.
  public var sinceStart: Duration

  /// Creates an instant.
  public init(sinceStart: Duration) {
    self.sinceStart = sinceStart
  }

  /// Returns the instant `duration` later, clamped to 2⁶¹ seconds before and after the clock's start.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    // Arithmetic on attoseconds is inlined, whereas operators of `Duration` are function calls.
    let (sum, isBeyond) = sinceStart.attoseconds.addingReportingOverflow(duration.attoseconds)
    let reachable = isBeyond ? (duration < .zero ? -Self.longest : Self.longest) : sum
    return MonotonicInstant(sinceStart: Duration(attoseconds: min(max(reachable, -Self.longest), Self.longest)))
  }

  /// The maximum time before and after the clock's start, in attoseconds. The sum and the difference of two such times
  /// still fit a `Duration`.
  private static var longest: Int128 { 1_000_000_000_000_000_000 << 61 }

  /// Returns the time from this instant to `other`. Negative if `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    other.sinceStart - sinceStart
  }

  /// Whether `lhs` is earlier than `rhs`.
  public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
    lhs.sinceStart.attoseconds < rhs.sinceStart.attoseconds
  }
}
