import LoopbackConformance
import Testing

@Suite("Soak")
struct SoakTests {
  @Test(
    "Thousands of calls with random events each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)))
  func everyCallEndsOnce() async throws {
    try await Soak(of: .urlSession, isFaulty: false).run(calls: Soak.calls)
  }

  @Test(
    "Thousands of calls with random connection faults each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)))
  func withFaults() async throws {
    try await Soak(of: .urlSession, isFaulty: true).run(calls: Soak.faultyCalls / 5)
  }
}
