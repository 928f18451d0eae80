import Apus
import ApusTesting
import InProcess
import Testing

@Suite("InProcessTransport as a transport")
struct InProcessConformanceTests {
  /// The capabilities that need a connection.
  private static let gaps: Set<TransportConformance.Capability> = [
    .interimResponses, .strictFraming, .contentCodings, .strictCodings, .backPressure,
  ]

  @Test("InProcessTransport passes the conformance checks", arguments: TransportConformance.checks(lacking: gaps))
  func conforms(check: TransportConformance.Check) async throws {
    let server = ScriptedServer()
    try await check.run(InProcessTransport { try await server.respond(to: $0) }, server)
  }

  @Test("Content is produced no faster than it is read")
  func backPressure() async throws {
    let name = "reads little more of a response than its reader consumes"
    let check = try #require(TransportConformance.checks().first { $0.name == name })
    let server = ScriptedServer()
    try await check.run(InProcessTransport { try await server.respond(to: $0) }, server)
  }
}
