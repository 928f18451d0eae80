import Apus
import ApusTesting

/// Time that stands still until a test moves it, and a lot that is always one half.
struct StoppedClock: Sendable {
  private let manual = ManualClock()

  /// Gives a client this time, and no other limit than what the test sets: so that whoever sleeps is known.
  func stop(_ configuration: inout Configuration) {
    configuration.settings.runtime.clock = manual
    configuration.settings.runtime.random = { 0x8000_0000_0000_0000 }
    configuration.timeout = nil
    configuration.attemptTimeout = nil
    configuration.retry = RetryPolicy(attempts: 3, base: .seconds(2))
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
