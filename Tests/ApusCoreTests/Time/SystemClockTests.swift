import ApusCore
import Testing

@Suite("The system's clock")
struct SystemClockTests {
  @Test("it never goes back, and all of them show the same time")
  func monotonic() {
    let instants = [SystemClock().now, SystemClock().now, SystemClock().now]
    #expect(instants == instants.sorted())
  }

  @Test("it sleeps until an instant, not shorter")
  func sleeping() async throws {
    let clock = SystemClock()
    let end = clock.now.advanced(by: .milliseconds(5))
    try await clock.sleep(until: end)
    #expect(clock.now >= end)
    try await clock.sleep(until: end)
  }

  @Test("a sleeper that is cancelled gets CancellationError")
  func cancelled() async {
    let sleeper = Task { try await SystemClock().sleep(until: SystemClock().now.advanced(by: .seconds(3600))) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("instants can be counted with")
  func instants() {
    let start = MonotonicInstant(sinceStart: .seconds(5))
    let end = start.advanced(by: .milliseconds(1500))
    #expect(start < end)
    #expect(start.duration(to: end) == .milliseconds(1500))
    #expect(end.duration(to: start) == .milliseconds(-1500))
    #expect(end.sinceStart == .milliseconds(6500))
  }
}
