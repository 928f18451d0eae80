import ApusTestServer
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite struct ShutDownTests {
  @Test("Shutting a test server down ends stalled exchanges, resumes waiters and can be repeated")
  func stalled() async throws {
    let gate = Gate()
    let server = try await TestServer.start { $0.target == "/gate" ? .text("x").waiting(for: gate) : .stalled }
    let clients = [try await RawClient.connect(to: server.port), try await RawClient.connect(to: server.port)]
    try await clients[0].request("GET", "/gate")
    try await clients[1].request("GET", "/stall")
    try await server.exchanges(atLeast: 2)
    try await gate.waitForArrivals(1)
    let never = Task { _ = try await server.exchange { $0.target == "/never" } }
    await server.shutDown()
    await server.shutDown()
    #expect(server.exchanges.map(\.outcome) == [.shutDown, .shutDown])
    #expect(server.inFlight == 0 && server.openConnections == 0)
    await #expect(throws: TestServerError.self) { try await never.value }
    await #expect(throws: TestServerError.self) { try await server.waitForClientClose(of: server.exchanges[0]) }
    for client in clients {
      #expect(await client.receiveAll() == ("", .closed))
      await client.close()
    }
  }

  @Test("TestServer.with shuts its server down when its body throws")
  func scope() async throws {
    struct Failure: Error {}
    var kept: TestServer?
    await #expect(throws: Failure.self) {
      try await TestServer.with { _ in
        .stalled
      } body: { server in
        kept = server
        throw Failure()
      }
    }
    let server = try #require(kept)
    await #expect(throws: TestServerError.self) { try await server.exchange() }
  }

  @Test("A test server's shutdown completes in a cancelled task")
  func cancelledTask() async throws {
    let server = try await TestServer.start { _ in .stalled }
    let client = try await RawClient.connect(to: server.port)
    try await client.request()
    try await server.exchange()
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await server.shutDown()
    }.value
    #expect(server.openConnections == 0)
    await client.close()
  }

  @Test("A released test server is closed")
  func forgotten() async throws {
    let client: RawClient
    do {
      let server = try await TestServer.start { _ in .stalled }
      client = try await RawClient.connect(to: server.port)
      try await client.request()
      try await server.exchange()
    }
    #expect(await client.receiveAll().end == .closed)
    await client.close()
  }

  @Test("Closing all connections ends the exchanges in flight, and the server continues to listen")
  func closeConnections() async throws {
    try await TestServer.with {
      $0.target == "/" ? .text("x") : .stalled
    } body: { server in
      let (idle, busy) = (try await RawClient.connect(to: server.port), try await RawClient.connect(to: server.port))
      try await idle.request()
      try await idle.receiveAnswer()
      try await busy.request("GET", "/stall")
      try await server.exchanges(atLeast: 2)
      await server.closeConnections()
      for client in [idle, busy] {
        #expect(await client.receiveAll() == ("", .closed))
        await client.close()
      }
      #expect(server.exchanges.map(\.outcome) == [.replied, .serverClosed])
      try await RawClient.with(server.port) { client in
        try await client.request()
        #expect(try await client.receiveAnswer().content == "x")
      }
    }
  }

  @Test("Connections that arrive during a shutdown are closed too")
  func storm() async throws {
    for _ in 0..<10 {
      let server = try await TestServer.start { _ in .stalled }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            guard let client = try? await RawClient.connect(to: server.port) else { return }
            try? await client.request()
            _ = await client.receiveAll()
            await client.close()
          }
        }
        await server.shutDown()
      }
      #expect(server.openConnections == 0 && server.inFlight == 0)
    }
  }

  #if os(Linux) || os(macOS)
  // The following tests run in separate processes, because other tests open descriptors and use ports concurrently.

  @Test("A test server that is shut down stops listening, and another server can use its port")
  func port() async {
    await #expect(processExitsWith: .success) {
      let server = try await TestServer.start { _ in .text("old") }
      #expect(server.origin == "http://127.0.0.1:\(server.port)")
      await server.shutDown()
      await #expect(throws: RawClient.End.self) { try await RawClient.connect(to: server.port) }
      var options = TestServer.Options()
      options.port = server.port
      try await TestServer.with(options: options) { _ in
        .text("new")
      } body: { server in
        try await RawClient.with(server.port) { client in
          try await client.request()
          #expect(try await client.receiveAnswer().content == "new")
        }
        await #expect(throws: (any Error).self) {
          try await TestServer.start(options: .init(port: server.port)) { _ in .text("taken") }
        }
      }
    }
  }

  @Test("A test server that is shut down leaves no descriptor open")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      func openDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) != -1 } }
      func once() async throws {
        let server = try await TestServer.start { _ in .text("hello").stalling(at: .content(2)) }
        let clients = [try await RawClient.connect(to: server.port), try await RawClient.connect(to: server.port)]
        for client in clients { try await client.request() }
        try await server.exchanges(atLeast: 2)
        await server.shutDown()
        for client in clients { await client.close() }
      }
      // The first server starts the shared event loops, which open descriptors.
      try await once()
      let before = openDescriptors()
      for _ in 0..<20 { try await once() }
      #expect(openDescriptors() == before)
    }
  }
  #endif
}
