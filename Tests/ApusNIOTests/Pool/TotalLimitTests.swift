import ApusCore
import ApusNIO
import ApusTestServer
import LoopbackConformance
import Synchronization
import Testing

/// A request handler that delays requests, and counts the requests in progress on all servers together.
private final class Load: Sendable {
  private struct Counts {
    var now = 0
    var peak = 0
  }

  private let counts = Mutex(Counts())
  let gate = Gate()

  var peak: Int { counts.withLock { $0.peak } }

  func answer() async -> Reply {
    counts.withLock { counts in
      counts.now += 1
      counts.peak = max(counts.peak, counts.now)
    }
    try? await gate.wait()
    // The count is reduced before the response is sent, because the next request may arrive immediately afterwards.
    counts.withLock { $0.now -= 1 }
    return .text("")
  }
}

extension NIOTransport.Usage {
  /// The number of connections that are open or being made.
  fileprivate var held: Int { inUse + idle + connecting }
}

@Suite("Total connection limit")
struct TotalLimitTests {
  /// Fails unless the servers soon have at most this number of open connections. Servers notice a close with a delay.
  private func require(atMost limit: Int, on servers: [TestServer]) async throws {
    try await requireSoon("more connections are open than there may be") {
      servers.reduce(0) { $0 + $1.openConnections } <= limit
    }
  }

  @Test("The total connection limit always holds, and all calls to all origins get a response")
  func kept() async throws {
    let (limit, count) = (3, 24)
    let load = Load()
    try await TestServer.with { _ in
      await load.answer()
    } body: { first in
      try await TestServer.with { _ in
        await load.answer()
      } body: { second in
        try await NIOTransport.with {
          $0.maximumConnections = limit
        } body: { transport in
          try await withThrowingTaskGroup(of: Void.self) { group in
            for server in [first, second] {
              let client = try makeClient(server.origin, transport)
              for _ in 0..<count / 2 { group.addTask { _ = try await client.send(message()) } }
            }
            try await load.gate.waitForArrivals(limit)
            for released in 1...count {
              load.gate.release()
              try await load.gate.waitForArrivals(min(limit + released, count))
              #expect(transport.usage.held <= limit)
              try await require(atMost: limit, on: [first, second])
            }
            try await group.waitForAll()
          }
          #expect(load.peak == limit)
          #expect(first.exchanges.count == count / 2 && second.exchanges.count == count / 2)
        }
      }
    }
  }

  @Test("One idle connection is closed for a call to another origin, and the other connections stay open")
  func unusedGivesWay() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { first in
      try await TestServer.with { _ in
        .text("")
      } body: { second in
        try await NIOTransport.with {
          $0.maximumConnections = 2
        } body: { transport in
          let client = try makeClient(first.origin, transport)
          let calls = (0..<2).map { _ in Task { try await client.send(message()) } }
          try await gate.waitForArrivals(2)
          gate.open()
          for call in calls { _ = try await call.value }
          #expect(transport.usage.idle == 2)
          _ = try await makeClient(second.origin, transport).send(message())
          #expect(transport.usage.idle == 2 && transport.usage.held == 2)
          try await first.wait { $0.openConnections == 1 }
          _ = try await client.send(message())
          #expect(first.acceptedConnections == 2 && second.acceptedConnections == 1)
          try await require(atMost: 2, on: [first, second])
        }
      }
    }
  }

  @Test("A connection in use is closed after its exchange for an earlier call to another origin")
  func firstComeFirstServed() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("").waiting(for: gate)
    } body: { busy in
      try await TestServer.with { _ in
        .text("").waiting(for: gate)
      } body: { other in
        try await NIOTransport.with {
          $0.maximumConnections = 1
        } body: { transport in
          let client = try makeClient(busy.origin, transport)
          let rival = try makeClient(other.origin, transport)
          let first = Task { try await client.send(message()) }
          try await gate.waitForArrivals(1)
          let second = Task { try await rival.send(message()) }
          try await requireSoon("nobody waits for a place") { transport.usage.waiting == 1 }
          let third = Task { try await client.send(message()) }
          try await requireSoon("there are not two who wait") { transport.usage.waiting == 2 }
          gate.release()
          try await gate.waitForArrivals(2)
          #expect(busy.exchanges.count == 1 && other.exchanges.count == 1)
          gate.release()
          try await gate.waitForArrivals(3)
          #expect(busy.exchanges.count == 2 && other.exchanges.count == 1)
          try await require(atMost: 1, on: [busy, other])
          gate.open()
          for call in [first, second, third] { _ = try await call.value }
          #expect(busy.acceptedConnections == 2 && other.acceptedConnections == 1)
        }
      }
    }
  }
}
