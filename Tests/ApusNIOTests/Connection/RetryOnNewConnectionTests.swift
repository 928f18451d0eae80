import ApusCore
import ApusNIO
import ApusTestServer
import LoopbackConformance
import Testing

@Suite("New connections for resent requests")
struct RetryOnNewConnectionTests {
  private static let retried: [TraceEvent.Kind] = [.connected(reused: true), .resent, .connected(reused: false)]

  /// The events of a call's connections, in order.
  private func connections(of response: Response<Content>) -> [TraceEvent.Kind] {
    response.trace.events.compactMap { event in
      switch event.kind {
      case .connected(let reused, _): .connected(reused: reused)
      case .resent: .resent
      default: nil
      }
    }
  }

  @Test(
    "A request whose reused connection closes gets a new connection, even if idle connections exist or a limit is reached",
    arguments: [(16, 256), (3, 256), (16, 3)])
  func othersAreFree(perOrigin: Int, total: Int) async throws {
    let gate = Gate()
    try await TestServer.with { request in
      switch request.number {
      case 0..<3: return .text("").waiting(for: gate)
      case 3: return .closed
      default: return .text("answer on \(request.connection)")
      }
    } body: { server in
      try await NIOTransport.with {
        ($0.maximumConnectionsPerOrigin, $0.maximumConnections) = (perOrigin, total)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        // The server delays the responses, so that each call uses a connection of its own.
        let first = (0..<3).map { _ in Task { try await client.send(message()) } }
        try await gate.waitForArrivals(3)
        gate.open()
        for call in first { _ = try await call.value }
        #expect(transport.usage.idle == 3)
        let response = try await client.response(to: message())
        #expect(response.value.string == "answer on 3")
        #expect(connections(of: response) == Self.retried)
        let exchanges = server.exchanges.dropFirst(3)
        #expect(exchanges.count == 2)
        let closed = try #require(exchanges.first)
        #expect(closed.connection < 3 && closed.outcome == .serverClosed)
        #expect(server.acceptedConnections == 4)
      }
    }
  }

  @Test("If other calls use all connections, the next idle connection is closed and replaced by a new connection")
  func placesAreTaken() async throws {
    let (closing, holding) = (Gate(), Gate())
    try await TestServer.with { request in
      request.number == 1 ? Reply.closed.waiting(for: closing) : .text("answer \(request.number)")
    } body: { server in
      try await TestServer.with { request in
        request.number == 0 ? .text("") : .text("").waiting(for: holding)
      } body: { other in
        try await NIOTransport.with {
          $0.maximumConnections = 2
        } body: { transport in
          let client = try makeClient(server.origin, transport)
          let rival = try makeClient(other.origin, transport)
          _ = try await client.send(message())
          _ = try await rival.send(message())
          let victim = Task { try await client.response(to: message()) }
          try await closing.waitForArrivals(1)
          let rivals = (0..<2).map { _ in Task { try await rival.send(message()) } }
          // One call uses the only permitted connection, the other call waits.
          try await requireSoon("no call waits for a connection") { transport.usage.waiting == 1 }
          closing.open()
          // The waiting call gets a connection in place of the closed connection. Then the request to resend waits.
          try await holding.waitForArrivals(2)
          try await requireSoon("the request does not wait") { transport.usage.waiting == 1 }
          #expect(server.exchanges.count == 2)
          holding.open()
          let response = try await victim.value
          for call in rivals { _ = try await call.value }
          #expect(response.value.string == "answer 2")
          #expect(connections(of: response) == Self.retried)
          #expect(server.exchanges.map(\.connection) == [0, 0, 1])
          #expect(other.acceptedConnections == 2)
          try await requireSoon("more connections are open than there may be") {
            server.openConnections + other.openConnections <= 2
          }
        }
      }
    }
  }
}
