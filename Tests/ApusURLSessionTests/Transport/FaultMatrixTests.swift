import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test("A call ends as expected for each fault, and the next call is not affected", arguments: FaultCase.all)
  func plain(fault: FaultCase) async throws {
    let outcome = try await fault.outcome(on: .urlSession)
    #expect(fault.expected(on: .urlSession).contains(outcome))
  }
}
