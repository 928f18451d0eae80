import ApusCore
import LoopbackConformance
import Testing

@Suite("Soak")
struct SoakTests {
  @Test(
    "Thousands of calls with random events each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)), arguments: [false, true], HTTPVersion.allCases)
  func everyCallEndsOnce(isSecure: Bool, version: HTTPVersion) async throws {
    try await Soak(of: .nio(isSecure: isSecure, version), isFaulty: false).run(calls: Soak.calls)
  }

  @Test(
    "Thousands of calls with random connection faults each end exactly once, and no resource is leaked",
    .timeLimit(.minutes(30)), arguments: [false, true], HTTPVersion.allCases)
  func withFaults(isSecure: Bool, version: HTTPVersion) async throws {
    try await Soak(of: .nio(isSecure: isSecure, version), isFaulty: true).run(calls: Soak.faultyCalls)
  }
}
