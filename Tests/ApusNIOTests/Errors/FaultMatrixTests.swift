import ApusCore
import LoopbackConformance
import Testing

@Suite("Faults")
struct FaultMatrixTests {
  @Test(
    "A call ends as expected for each fault, and the next call is not affected", arguments: FaultCase.all,
    HTTPVersion.allCases)
  func plain(fault: FaultCase, version: HTTPVersion) async throws {
    let kind = try TransportKind.nio(isSecure: false, version, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }

  @Test(
    "Over TLS, a call ends as expected for each fault, and the next call is not affected", arguments: FaultCase.all,
    HTTPVersion.allCases)
  func secure(fault: FaultCase, version: HTTPVersion) async throws {
    let kind = try TransportKind.nio(isSecure: true, version, connections: 1)
    let outcome = try await fault.outcome(on: kind)
    #expect(fault.expected(on: kind).contains(outcome))
  }
}
