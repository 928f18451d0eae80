import ApusTestServer
import Testing

@Suite struct RecordingTests {
  @Test(
    "The test server records method, target and fields unchanged",
    arguments: ["GET", "QUERY", "get", "X-custom!", "CONNECT"])
  func exactly(method: String) async throws {
    try await TestServer.with { _ in
      .status(200)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request(method, "/%7ea//b?c=%20&c=+?d", "X-Two: a\r\nx-TWO:  b \r\n")
        try await client.receiveAnswer()
      }
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == method)
      #expect(exchange.target == "/%7ea//b?c=%20&c=+?d")
      #expect(exchange.path == "/%7ea//b")
      #expect(exchange.query == "c=%20&c=+?d")
      #expect(exchange.version == "HTTP/1.1")
      #expect(exchange.fields == ["Host": "localhost", "X-Two": "a", "x-TWO": "b"])
      #expect(exchange.isComplete && exchange.contentLength == 0)
      #expect(exchange.arrival <= .now)
    }
  }

  @Test("The test server records content with a length and in chunks, and trailers")
  func content() async throws {
    try await TestServer.with {
      .text($0.text)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("POST", "/", "Content-Length: 5\r\n")
        try await client.send("hello")
        #expect(try await client.receiveAnswer().content == "hello")
        try await client.request("POST", "/", "Transfer-Encoding: chunked\r\n")
        try await client.send("2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-Sum: 1\r\n\r\n")
        #expect(try await client.receiveAnswer().content == "hello")
      }
      #expect(server.exchanges.map(\.content) == [Array("hello".utf8), Array("hello".utf8)])
      #expect(server.exchanges.map(\.contentLength) == [5, 5])
      #expect(server.exchanges.map(\.trailers) == [[:], ["X-Sum": "1"]])
      #expect(server.exchanges.map(\.query) == [nil, nil])
    }
  }

  @Test("Content beyond the content limit is counted and digested but not stored")
  func cap() async throws {
    let content = ContentPattern.counting.bytes(0..<3_000_000)
    try await TestServer.with(options: .init(contentLimit: 1000)) { _ in
      .status(200)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/", "Content-Length: \(content.count)\r\n")
        try await client.send(content)
        try await client.receiveAnswer()
      }
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.content == Array(content.prefix(1000)))
      #expect(exchange.contentLength == content.count)
      #expect(exchange.digest == ContentDigest(of: content))
    }
  }

  @Test("If the client disconnects, the content received until then is recorded")
  func cutOff() async throws {
    try await TestServer.with { _ in
      .status(200)
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request("PUT", "/", "Content-Length: 10\r\n")
      try await client.send("hello")
      let exchange = try await server.exchange { $0.contentLength == 5 }
      await client.close()
      let ended = try await server.waitForClientClose(of: exchange)
      #expect(!ended.isComplete && ended.text == "hello" && ended.status == nil)
    }
  }

  @Test("The test server counts exchanges in flight, and their maximum")
  func inFlight() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("x").waiting(for: gate)
    } body: { server in
      var clients: [RawClient] = []
      for count in 1...5 {
        let client = try await RawClient.connect(to: server.port)
        clients.append(client)
        try await client.request("GET", "/\(count)")
        try await server.exchanges(atLeast: count)
      }
      #expect(server.inFlight == 5 && server.openConnections == 5)
      gate.open()
      for client in clients { try await client.receiveAnswer() }
      #expect(server.inFlight == 0 && server.peakInFlight == 5)
      #expect(server.exchanges.map(\.target) == (1...5).map { "/\($0)" })
      #expect(Set(server.exchanges.map(\.connection)) == Set(0..<5))
      for client in clients { await client.close() }
      try await server.wait { $0.openConnections == 0 }
      #expect(server.acceptedConnections == 5)
    }
  }

  @Test("Consecutive requests are never counted as concurrently in flight")
  func neverTwo() async throws {
    try await TestServer.with { _ in
      .text("x")
    } body: { server in
      let (one, other) = (try await RawClient.connect(to: server.port), try await RawClient.connect(to: server.port))
      for _ in 0..<100 {
        try await one.request()
        try await one.receiveAnswer()
        try await other.request()
        try await other.receiveAnswer()
      }
      #expect(server.peakInFlight == 1)
      #expect(server.exchanges.map(\.id) == Array(0..<200))
      #expect(server.exchanges.allSatisfy { $0.outcome == .replied && $0.status == 200 })
      await one.close()
      await other.close()
    }
  }
}
