import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test("A call with a fault ends as expected, and the next one is not affected", arguments: FaultCase.all)
  func plain(fault: FaultCase) async throws {
    let outcome = try await fault.outcome(on: .urlSession)
    #expect(fault.expected(on: .urlSession).contains(outcome))
  }
}
