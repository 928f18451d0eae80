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
    try await Task.sleep(until: Self.start.advanced(by: instant.sinceStart), tolerance: nil, clock: .continuous)
  }
}
