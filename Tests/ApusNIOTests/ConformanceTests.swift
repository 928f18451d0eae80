#if NIO
  import ApusNIO
  import ApusTesting
  import LoopbackConformance
  import Testing

  @Suite("Conformance")
  struct ConformanceTests {
    @Test("NIOTransport conforms", arguments: TransportConformance.checks)
    func conforms(check: TransportConformance.Check) async throws {
      try await LoopbackServer.with { server in
        let transport = NIOTransport()
        try await check.run(transport, server, limit: .seconds(60))
        await transport.shutDown()
      }
    }
  }
#endif
