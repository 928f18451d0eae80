import ApusCore
import Testing

@Suite("The system clock")
struct SystemClockTests {
  @Test("The instants of several instances never decrease")
  func monotonic() {
    let instants = [SystemClock().now, SystemClock().now, SystemClock().now]
    #expect(instants == instants.sorted())
  }

  @Test("A sleeper wakes at its instant, not before")
  func sleeping() async throws {
    let clock = SystemClock()
    let end = clock.now.advanced(by: .milliseconds(5))
    try await clock.sleep(until: end)
    #expect(clock.now >= end)
    try await clock.sleep(until: end)
  }

  @Test("A cancelled sleeper throws CancellationError")
  func cancelled() async {
    let sleeper = Task { try await SystemClock().sleep(until: SystemClock().now.advanced(by: .seconds(3600))) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("Instants can be advanced, compared and subtracted")
  func instants() {
    let start = MonotonicInstant(sinceStart: .seconds(5))
    let end = start.advanced(by: .milliseconds(1500))
    #expect(start < end)
    #expect(start.duration(to: end) == .milliseconds(1500))
    #expect(end.duration(to: start) == .milliseconds(-1500))
    #expect(end.sinceStart == .milliseconds(6500))
  }
}
