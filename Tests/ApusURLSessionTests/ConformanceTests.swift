import ApusTesting
import ApusURLSession
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  @Test("URLSessionTransport conforms", arguments: TransportConformance.checks)
  func conforms(check: TransportConformance.Check) async throws {
    try await LoopbackServer.with { server in
      try await check.run(URLSessionTransport(), server)
    }
  }
}
