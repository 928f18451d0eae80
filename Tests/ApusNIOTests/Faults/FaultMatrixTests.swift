import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test("A call with a fault ends as expected, and the next one is not affected", arguments: FaultCase.all)
  func plain(fault: FaultCase) async throws {
    let kind = try TransportKind.nio(isSecure: false, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }

  @Test("The same over TLS", arguments: FaultCase.all)
  func secure(fault: FaultCase) async throws {
    let kind = try TransportKind.nio(isSecure: true, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }
}
