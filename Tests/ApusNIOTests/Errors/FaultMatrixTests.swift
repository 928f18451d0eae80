import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test("A call ends as expected for each fault, and the next call is not affected", arguments: FaultCase.all)
  func plain(fault: FaultCase) async throws {
    let kind = try TransportKind.nio(isSecure: false, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }

  @Test("Over TLS, a call ends as expected for each fault, and the next call is not affected", arguments: FaultCase.all)
  func secure(fault: FaultCase) async throws {
    let kind = try TransportKind.nio(isSecure: true, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }
}
