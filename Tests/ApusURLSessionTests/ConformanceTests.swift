import ApusTesting
import ApusURLSession
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  /// The capabilities that the transport lacks, by the names of its gaps.
  private static let gaps = Set(
    URLSessionTransport.knownGaps.compactMap { TransportConformance.Capability(rawValue: $0) })

  @Test("URLSessionTransport conforms", arguments: TransportConformance.checks(lacking: gaps))
  func conforms(check: TransportConformance.Check) async throws {
    try await LoopbackServer.with { server in
      // Hundreds of other tests run at the same time.
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      try await check.run(transport, server, limit: .seconds(1200))
    }
  }
}
