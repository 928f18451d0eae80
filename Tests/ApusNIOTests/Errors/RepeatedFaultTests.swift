import ApusCore
import ApusTestServer
import LoopbackConformance
import Testing

@Suite("Faults on every connection")
struct RepeatedFaultTests {
  @Test(
    "A server that breaks every connection ends the call instead of causing endless attempts",
    arguments: [Fault.Effect.close, .halfClose, .reset, .truncate(), .garbage()], [false, true])
  func everyConnection(effect: Fault.Effect, isSecure: Bool) async throws {
    let options = TestServer.Options(faults: [Fault(at: .connect, effect)])
    try await TransportKind.nio(isSecure: isSecure).run(options) { _ in
      .text("never")
    } body: { _, client in
      for _ in 0..<5 {
        let error = try #require(await failure { try await client.send(message()) })
        #expect([.connectionLost, .malformedResponse, .connectionFailed, .tls].contains(error.code))
        if isSecure { #expect(error.requestState == .notSent) }
      }
    }
  }

  @Test("A request that was written once fails as maybe sent, even if it could not be written again")
  func resent() async throws {
    let options = TestServer.Options(faults: [
      Fault(at: .responseHead, .close, on: .request(1)),
      Fault(at: .connect, .close, on: .matching { $0.connection > 0 }),
    ])
    try await TransportKind.nio(isSecure: true).run(options) { _ in
      .text("hello")
    } body: { server, client in
      _ = try await client.send(message())
      let error = try #require(await failure { try await client.send(message()) })
      #expect(server.exchanges.map(\.outcome) == [.replied, .serverClosed])
      #expect(server.acceptedConnections == 2)
      #expect(error.requestState == .maybeSent)
    }
  }

  @Test("Over TLS, content without a length is complete only with a close notification")
  func farewell() async throws {
    for (effect, isWhole): (Fault.Effect, Bool) in [(.close, true), (.truncate(after: 0), false)] {
      let options = TestServer.Options(faults: [Fault(at: .end, effect)])
      try await TransportKind.nio(isSecure: true).run(options) { _ in
        .unframed([1, 2, 3])
      } body: { _, client in
        let error = await failure { try await client.send(message()) }
        #expect((error == nil) == isWhole)
        if let error {
          #expect(error.code == .connectionLost)
          #expect(error.requestState == .responded)
        }
      }
    }
  }
}
