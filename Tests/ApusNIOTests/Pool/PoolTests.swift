import ApusCore
import ApusTestServer
import HTTPTypes
import TestSupport
import Testing

@testable import ApusNIO

@Suite("Pool")
struct PoolTests {
  @Test("An origin never has more connections than its limit, and every call completes")
  func limit() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 3
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<20 { group.addTask { _ = try await client.send(message()) } }
          try await gate.waitForArrivals(3)
          gate.open()
          try await group.waitForAll()
        }
        #expect(server.acceptedConnections == 3)
        #expect(server.peakInFlight == 3)
        #expect(server.exchanges.count == 20)
      }
    }
  }

  @Test("Each origin has its own connection limit")
  func origins() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { slow in
      try await TestServer.with { _ in
        .text("")
      } body: { fast in
        try await NIOTransport.with {
          $0.maximumConnectionsPerOrigin = 1
        } body: { transport in
          let waiting = Task { try await makeClient(slow.origin, transport).send(message()) }
          try await gate.waitForArrivals(1)
          _ = try await makeClient(fast.origin, transport).send(message())
          gate.open()
          _ = try await waiting.value
        }
      }
    }
  }

  @Test("An idle connection is closed after the idle timeout")
  func idleTimeout() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with {
        $0.idleTimeout = .milliseconds(20)
      } body: { transport in
        _ = try await makeClient(server.origin, transport).send(message())
        try await server.wait { $0.openConnections == 0 }
      }
    }
  }

  @Test("A connection beyond the maximum age is not reused")
  func maximumAge() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionAge = .zero
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        for _ in 0..<3 { _ = try await client.send(message()) }
        #expect(server.acceptedConnections == 3)
      }
    }
  }

  @Test("A call cancelled while it waits for a connection never reaches the server, and other calls complete")
  func cancelledWhileWaiting() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 1
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let first = Task { try await client.send(message(.get, "/first")) }
        try await gate.waitForArrivals(1)
        let cancelled = Task { try await client.send(message(.get, "/cancelled")) }
        let last = Task { try await client.send(message(.get, "/last")) }
        try await waitWhile(client.calls.count < 3)
        cancelled.cancel()
        #expect(await failure { try await cancelled.value }?.code == .cancelled)
        gate.open()
        _ = try await first.value
        _ = try await last.value
        #expect(server.exchanges.map(\.path) == ["/first", "/last"])
      }
    }
  }

  @Test("A connection that the server closed while idle is not reused")
  func closedWhileIdle() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      let configure = { (options: inout NIOTransport.Options) in options.eventLoops = .dedicated(1) }
      try await NIOTransport.with(configure) { transport in
        let client = try makeClient(server.origin, transport)
        for method in ["GET", "POST"] {
          for _ in 0..<10 {
            _ = try await client.send(message(.init(method) ?? .get))
            try await server.closeConnections(of: transport)
          }
        }
        #expect(server.exchanges.count == 20)
      }
    }
  }

  @Test("Unsolicited bytes close the connection and are never read as a response")
  func unsolicited() async throws {
    try await TestServer.with { _ in
      Reply(
        steps: Reply.text("asked for").steps + [.raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8))])
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for _ in 0..<3 {
          let got = try await client.send(message()).string
          #expect(got == "asked for")
        }
        #expect(server.acceptedConnections == 3)
      }
    }
  }

  @Test("A connection is not reused after a response with Connection: close")
  func closing() async throws {
    try await TestServer.with { _ in
      .text("", fields: ["Connection": "close"])
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for _ in 0..<3 { _ = try await client.send(message(.post)) }
        #expect(server.acceptedConnections == 3)
      }
    }
  }
}
