import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test("a call that suffers a fault ends as it must, and the next one is none the worse", arguments: FaultCase.all)
  func plain(fault: FaultCase) async throws {
    let outcome = try await fault.outcome(on: .urlSession)
    #expect(fault.expected(on: .urlSession).contains(outcome))
  }
}
