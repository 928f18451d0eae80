import LoopbackConformance
import Testing

@Suite("Soak")
struct SoakTests {
  @Test(
    "Each of thousands of calls ends exactly once, whatever happens, and leaves nothing behind",
    .timeLimit(.minutes(30)), arguments: [false, true])
  func everyCallEndsOnce(isSecure: Bool) async throws {
    try await Soak(of: .nio(isSecure: isSecure), isFaulty: false).run(calls: Soak.calls)
  }

  @Test(
    "So does each of thousands of calls on connections that fail in every way",
    .timeLimit(.minutes(30)), arguments: [false, true])
  func withFaults(isSecure: Bool) async throws {
    try await Soak(of: .nio(isSecure: isSecure), isFaulty: true).run(calls: Soak.faultyCalls)
  }
}
