import ApusTestServer
import Testing

@Suite struct ConnectionTests {
  @Test(
    "The test server closes a connection after the response if either side requests that",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", Reply.text("x")),
      ("GET / HTTP/1.0\r\n\r\n", Reply.text("x")),
      ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", Reply.text("x", fields: ["Connection": "close"])),
    ])
  func closes(request: String, reply: Reply) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.send(request)
        let (text, end) = await client.receiveAll()
        #expect(text.hasSuffix("\r\n\r\nx") && end == .closed)
      }
      #expect(server.exchanges.map(\.outcome) == [.replied])
    }
  }

  @Test("The test server keeps an HTTP/1.0 connection alive on request")
  func keepAlive() async throws {
    try await TestServer.with {
      .text($0.target)
    } body: { server in
      try await RawClient.with(server.port) { client in
        for target in ["/1", "/2"] {
          try await client.send("GET \(target) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
          #expect(try await client.receiveAnswer().content == target)
        }
      }
    }
  }

  @Test("A chunked reply keeps the connection alive")
  func chunkedKeeps() async throws {
    try await TestServer.with { _ in
      .chunked([[65]])
    } body: { server in
      try await RawClient.with(server.port) { client in
        for _ in 0..<2 {
          try await client.request()
          _ = try await client.receiveHead()
          #expect(try await client.receiveText(11) == "1\r\nA\r\n0\r\n\r\n")
        }
      }
    }
  }

  @Test("The test server replies to pipelined requests one after the other")
  func pipelined() async throws {
    let gate = Gate()
    try await TestServer.with {
      .text($0.target).waiting(for: gate)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.send((1...3).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
        try await gate.waitForArrivals(1)
        #expect(server.exchanges.count == 1)
        gate.open()
        for target in ["/1", "/2", "/3"] { #expect(try await client.receiveAnswer().content == target) }
      }
      #expect(server.peakInFlight == 1)
    }
  }

  @Test("The test server sends 100 (Continue) before the content arrives")
  func expectContinue() async throws {
    try await TestServer.with {
      .text($0.text)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/", "Expect: 100-Continue\r\nContent-Length: 5\r\n")
        #expect(try await client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("hello")
        #expect(try await client.receiveAnswer().content == "hello")
      }
    }
  }

  @Test("A handler called at the head can refuse the content before it arrives")
  func refusal() async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      .status(413, fields: ["Connection": "close"])
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request("PUT", "/", "Expect: 100-continue\r\nContent-Length: 5000000\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 413 "))
      // The server continues to read after its response. Otherwise a reset could discard the response before a client
      // that is still sending has received it.
      try await client.send(ContentPattern.counting.bytes(0..<5_000_000))
      #expect(await client.receiveAll().end == .closed)
      #expect(server.exchanges.map(\.outcome) == [.replied])
      await client.close()
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("A reply before the end of the request content leaves the connection usable")
  func earlyAnswer() async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) {
      .text($0.target)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/1", "Content-Length: 5\r\n")
        #expect(try await client.receiveAnswer().content == "/1")
        for (count, letter) in "hello".enumerated() {
          try await client.send(String(letter))
          try await server.exchange { $0.contentLength == count + 1 }
        }
        try await client.request("GET", "/2")
        #expect(try await client.receiveAnswer().content == "/2")
      }
      #expect(server.exchanges.map(\.text) == ["hello", ""])
      #expect(server.exchanges.map(\.isComplete) == [true, true])
    }
  }

  @Test("A reply can send 100 (Continue) itself and stop reading")
  func stopsReading() async throws {
    let gate = Gate()
    let reply = Reply(
      steps: [
        .reading(false), .interim(100, fields: [:]), .wait(gate), .reading(true),
        .head(200, fields: ["Content-Length": "0"]),
      ])
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      reply
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/", "Content-Length: 3\r\n")
        #expect(try await client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("abc")
        gate.open()
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 OK"))
        try await server.exchange { $0.text == "abc" }
      }
    }
  }

  @Test("A test server can reply to selected requests before their content has arrived, and still reads the content")
  func repliesToSomeHeads() async throws {
    var options = TestServer.Options()
    options.repliesToHead = { $0.path == "/early" }
    try await TestServer.with(options: options) { request in
      .status(request.isComplete ? 200 : 201)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/early", "Content-Length: 3\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 201"))
        try await client.send("abc")
        try await server.exchange { $0.text == "abc" && $0.isComplete }
        try await client.request("PUT", "/late", "Content-Length: 3\r\n")
        try await client.send("def")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200"))
      }
    }
  }

  @Test("A disconnect is detected even while reading is stopped")
  func leavesUnread() async throws {
    let reply = Reply(steps: [.reading(false), .interim(100, fields: [:]), .stall])
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      reply
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request("PUT", "/", "Content-Length: 100\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 100 "))
      await client.close()
      let exchange = try await server.waitForClientClose(of: try await server.exchange())
      #expect(exchange.status == nil && !exchange.isComplete)
    }
  }

  @Test("A reply can close the connection while request content is arriving")
  func closesDuringUpload() async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      .closed
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/", "Content-Length: 100\r\n")
        #expect(await client.receiveAll().text.isEmpty)
      }
      #expect(server.exchanges.map(\.outcome) == [.serverClosed])
    }
  }

  @Test(
    "Garbage gets a 400, is recorded as malformed and affects no other connection",
    arguments: ["\u{16}\u{3}\u{1}\r\n", "\r\nGET\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n"])
  func garbage(bytes: String) async throws {
    try await TestServer.with { _ in
      .text("fine")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.send(bytes)
        let (text, end) = await client.receiveAll()
        #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && end == .closed)
      }
      #expect(server.exchanges.isEmpty)
      #expect(server.malformedRequests.map(\.connection) == [0])
      #expect(server.malformedRequests.first?.reason.isEmpty == false)
      try await RawClient.with(server.port) { client in
        try await client.request()
        #expect(try await client.receiveAnswer().content == "fine")
      }
    }
  }

  @Test("Malformed request content ends its exchange")
  func malformedContent() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request("PUT", "/", "Transfer-Encoding: chunked\r\n")
        try await client.send("nonsense\r\n")
        try await client.send("and more of it")
        #expect(await client.receiveAll().text.hasPrefix("HTTP/1.1 400 "))
      }
      #expect(server.exchanges.map(\.outcome) == [.malformed])
      #expect(server.inFlight == 0)
    }
  }
}
