import Apus
import ApusTesting

/// A manual clock, and random numbers that are always one half.
struct StoppedClock: Sendable {
  private let manual = ManualClock(.manual)

  /// Sets this clock and no default timeouts, so that only the test's own timeouts sleep on the clock.
  func stop(_ configuration: inout Configuration) {
    configuration.clock = manual
    configuration.settings.runtime.random = { 0x8000_0000_0000_0000 }
    configuration.timeout = nil
    configuration.attemptTimeout = nil
    configuration.retry = RetryPolicy(maximumAttempts: 3, baseDelay: .seconds(2))
  }

  func advance(by time: Duration) {
    manual.advance(by: time)
  }

  func advanceToNextWake() {
    manual.advanceToNextWake()
  }

  func waitForSleepers(_ count: Int) async throws {
    try await manual.waitForSleepers(count)
  }
}
