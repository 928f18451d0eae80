import ApusTesting
import ApusURLSession
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  /// The conformance capabilities that the transport lacks.
  private static let gaps: Set<TransportConformance.Capability> = {
    let everywhere: Set<TransportConformance.Capability> = [.trailers, .backPressure]
    #if canImport(Security)
    return everywhere
    #else
    return everywhere.union([.strictFraming, .strictCodings, .interimResponses])
    #endif
  }()

  @Test(
    "URLSessionTransport passes the transport conformance suite", arguments: TransportConformance.checks(lacking: gaps))
  func conforms(check: TransportConformance.Check) async throws {
    try await LoopbackServer.with { server in
      // The limit is long, because hundreds of other tests run at the same time.
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      try await check.run(transport, server, limit: .seconds(1200))
    }
  }
}
