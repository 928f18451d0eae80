import LoopbackConformance
import Testing

@Suite("Soak")
struct SoakTests {
  @Test(
    "Thousands of calls with random events each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)), arguments: [false, true])
  func everyCallEndsOnce(isSecure: Bool) async throws {
    try await Soak(of: .nio(isSecure: isSecure), isFaulty: false).run(calls: Soak.calls)
  }

  @Test(
    "Thousands of calls with random connection faults each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)), arguments: [false, true])
  func withFaults(isSecure: Bool) async throws {
    try await Soak(of: .nio(isSecure: isSecure), isFaulty: true).run(calls: Soak.faultyCalls)
  }
}
