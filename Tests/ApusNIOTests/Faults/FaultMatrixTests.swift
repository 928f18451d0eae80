#if NIO
  import LoopbackConformance
  import Testing

  @Suite("Faults")
  struct FaultMatrixTests {
    @Test("a call that suffers a fault ends as it must, and the next one is none the worse", arguments: FaultCase.all)
    func plain(fault: FaultCase) async throws {
      let kind = try TransportKind.nio(isSecure: false, connections: 1)
      let outcome = try await fault.outcome(on: kind)
      #expect(fault.expected(on: kind).contains(outcome))
    }

    @Test("a call over TLS that suffers a fault does so too", arguments: FaultCase.all)
    func secure(fault: FaultCase) async throws {
      let kind = try TransportKind.nio(isSecure: true, connections: 1)
      let outcome = try await fault.outcome(on: kind)
      #expect(fault.expected(on: kind).contains(outcome))
    }
  }
#endif
