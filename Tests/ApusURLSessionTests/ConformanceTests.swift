import ApusTesting
import ApusURLSession
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  @Test("URLSessionTransport conforms", arguments: TransportConformance.checks)
  func conforms(check: TransportConformance.Check) async throws {
    try await LoopbackServer.with { server in
      // Hundreds of other tests run at the same time.
      try await check.run(URLSessionTransport(), server, limit: .seconds(300))
    }
  }
}
