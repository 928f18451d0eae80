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
