import ApusCore
import ApusTestServer
import ApusURLSession
import HTTPTypes
import Testing

@Suite("Shutdown")
struct ShutDownTests {
  @Test("Shutdown ends exchanges in flight, and later messages are refused without being sent")
  func whileInFlight() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let transport = URLSessionTransport()
      let client = try makeClient(server, transport: transport)
      let task = Task { try await client.send(message()) }
      try await server.exchange()
      transport.shutDown()
      transport.shutDown()
      let broken = try #require(await errorOf { try await task.value } as? CallError)
      #expect(broken.requestState == .maybeSent)
      let refused = try #require(await errorOf { try await client.send(message()) } as? CallError)
      #expect(refused.requestState == .notSent)
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("Shutdown fails content that is still arriving")
  func whileReceiving() async throws {
    try await TestServer.with { _ in
      Reply.text("hello").stalling(at: .content(2))
    } body: { server in
      let transport = URLSessionTransport()
      let client = try makeClient(server, transport: transport)
      let error = try #require(
        await errorOf {
          try await client.withResponse(to: message()) { response in
            _ = try await response.next()
            transport.shutDown()
            _ = try await response.next()
          }
        } as? CallError)
      #expect(error.requestState == .responded)
    }
  }

  @Test("A released transport closes its connections")
  func letGo() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      var client: Client? = try makeClient(server)
      _ = try await client?.send(message())
      client = nil
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("A GET declared not idempotent uses a new connection if the platform might resend it")
  func unsafeGet() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let client = try makeClient(server)
      _ = try await client.send(message())
      _ = try await client.send(message(.get, "/ticket").setting(IdempotenceKey.self, false))
      let connections = server.exchanges.map(\.request.connection)
      #if canImport(Security)
      #expect(connections.count == 2)
      #else
      #expect(Set(connections).count == 2)
      #endif
    }
  }

  @Test("Without reuse of connections, every message uses a new connection, which is closed afterwards")
  func withoutReuse() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      var options = URLSessionTransport.Options()
      options.reusesConnections = false
      let client = try makeClient(server, transport: URLSessionTransport(options: options))
      for _ in 0..<3 { _ = try await client.send(message()) }
      #expect(server.acceptedConnections == 3)
      try await server.wait { $0.openConnections == 0 }
    }
  }
}
