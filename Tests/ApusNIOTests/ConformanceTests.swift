#if NIO
  import ApusNIO
  import ApusTesting
  import Foundation
  import LoopbackConformance
  import Testing

  @Suite("Conformance")
  struct ConformanceTests {
    @Test("NIOTransport conforms", arguments: TransportConformance.checks)
    func conforms(check: TransportConformance.Check) async throws {
      try await LoopbackServer.with { server in
        let transport = NIOTransport(options: .patient)
        try await check.run(transport, server, limit: .seconds(1200))
        await transport.shutDown()
      }
    }

    @Test("NIOTransport conforms over TLS", arguments: TransportConformance.checks)
    func conformsSecurely(check: TransportConformance.Check) async throws {
      let authority = try TestAuthority.shared()
      try await LoopbackServer.with(tls: authority.tls()) { server in
        var options = NIOTransport.Options.patient
        options.trust.additionalAuthorities = [Data(authority.certificate.utf8)]
        let transport = NIOTransport(options: options)
        try await check.run(transport, server, limit: .seconds(1200))
        await transport.shutDown()
      }
    }
  }
#endif
