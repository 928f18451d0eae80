import ApusNIO
import ApusTesting
import Foundation
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  @Test("NIOTransport passes the transport conformance suite", arguments: TransportConformance.checks)
  func conforms(check: TransportConformance.Check) async throws {
    try await LoopbackServer.with { server in
      try await NIOTransport.with { try await check.run($0, server, limit: .seconds(1200)) }
    }
  }

  @Test("NIOTransport passes the transport conformance suite over TLS", arguments: TransportConformance.checks)
  func conformsSecurely(check: TransportConformance.Check) async throws {
    let authority = try TestAuthority.shared()
    try await LoopbackServer.with(tls: authority.tls()) { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: {
        try await check.run($0, server, limit: .seconds(1200))
      }
    }
  }
}
