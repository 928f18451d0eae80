#if NIO
  import ApusNIO
  import ApusTesting
  import Foundation
  import LoopbackConformance
  import Testing

  @Suite("Conformance")
  struct ConformanceTests {
    /// Without limits of the transport's own: what a check holds up ends by the check.
    private static var options: NIOTransport.Options {
      var options = NIOTransport.Options()
      (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (nil, nil, nil)
      return options
    }

    @Test("NIOTransport conforms", arguments: TransportConformance.checks)
    func conforms(check: TransportConformance.Check) async throws {
      try await LoopbackServer.with { server in
        let transport = NIOTransport(options: Self.options)
        try await check.run(transport, server, limit: .seconds(1200))
        await transport.shutDown()
      }
    }

    @Test("NIOTransport conforms over TLS", arguments: TransportConformance.checks)
    func conformsSecurely(check: TransportConformance.Check) async throws {
      let authority = try TestAuthority.shared()
      try await LoopbackServer.with(tls: authority.tls()) { server in
        var options = Self.options
        options.trust.additionalAuthorities = [Data(authority.certificate.utf8)]
        let transport = NIOTransport(options: options)
        try await check.run(transport, server, limit: .seconds(1200))
        await transport.shutDown()
      }
    }
  }
#endif
