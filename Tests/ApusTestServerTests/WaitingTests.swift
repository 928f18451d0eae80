import ApusTestServer
import Testing

@Suite struct WaitingTests {
  @Test("A test can wait for future exchanges of a test server")
  func exchanges() async throws {
    try await TestServer.with { _ in
      .text("x")
    } body: { server in
      async let found = server.exchange { $0.target == "/3" && $0.outcome == .replied }
      async let many = server.exchanges(atLeast: 2) { $0.target != "/1" }
      try await RawClient.with(server.port) { client in
        for number in 1...3 {
          try await client.request("GET", "/\(number)")
          try await client.receiveAnswer()
        }
      }
      #expect(try await found.id == 2)
      #expect(try await many.map(\.target) == ["/2", "/3"])
    }
  }

  @Test("A cancelled wait for an exchange ends")
  func cancelled() async throws {
    try await TestServer.with { _ in
      .text("x")
    } body: { server in
      // Many tasks, so that some are cancelled before they wait and some while waiting.
      for _ in 0..<100 {
        let task = Task { _ = try await server.exchange() }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }

  @Test("waitForClientClose fails if the exchange ends in another way")
  func endedOtherwise() async throws {
    try await TestServer.with {
      $0.target == "/" ? .text("x") : .closed
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        try await client.receiveAnswer()
        try await client.request("GET", "/closed")
        _ = await client.receiveAll()
      }
      for (exchange, outcome) in zip(server.exchanges, [RecordedExchange.Outcome.replied, .serverClosed]) {
        let error = await #expect(throws: TestServerError.self) { try await server.waitForClientClose(of: exchange) }
        guard case .unexpectedOutcome(outcome) = error else { throw error ?? .noPort }
      }
      try await server.waitUntilIdle()
    }
  }

  @Test("waitForClientClose fails for an exchange of another server")
  func unknown() async throws {
    let exchange = try await TestServer.with { _ in
      .text("x")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        try await client.receiveAnswer()
      }
      return try await server.exchange()
    }
    try await TestServer.with { _ in
      .text("x")
    } body: { server in
      await #expect(throws: TestServerError.self) { try await server.waitForClientClose(of: exchange) }
    }
  }
}
