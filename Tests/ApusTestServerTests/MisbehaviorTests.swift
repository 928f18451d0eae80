import ApusTestServer
import TestSupport
import Testing

@Suite struct MisbehaviorTests {
  /// Returns the bytes that a client receives for a request, how the connection ends, and the exchange.
  private func answer(
    _ reply: Reply, to method: String = "GET"
  ) async throws -> (text: String, end: RawClient.End, exchange: RecordedExchange) {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let (text, end) = try await RawClient.with(server.port) { client in
        try await client.request(method)
        return await client.receiveAll()
      }
      return (text, end, try #require(server.exchanges.first))
    }
  }

  private let chunks = Reply.chunked([Array("hello".utf8), Array("world".utf8)])

  // MARK: Stalls

  @Test(
    "A stalled reply sends nothing more, and the client's disconnect is detected",
    arguments: [
      (Reply.stalled, ""),
      (Reply.text("hello").stalling(at: .start), ""),
      (Reply.status(200, content: [65, 66, 67]).stalling(at: .head), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"),
      (
        Reply.status(200, content: [65, 66, 67]).stalling(at: .content(2)),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nAB"
      ),
      (
        Reply.chunked([[65, 66], [67, 68]]).stalling(at: .content(3)),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nAB\r\n2\r\nC"
      ),
    ])
  func stall(reply: Reply, sent: String) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request()
      #expect(try await client.receiveText(sent.utf8.count) == sent)
      let exchange = try await server.exchange()
      #expect(exchange.outcome == .inFlight)
      #expect(server.inFlight == 1)
      await client.close()
      #expect(try await server.waitForClientClose(of: exchange).outcome == .clientClosed)
      try await server.waitUntilIdle()
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("A client's disconnect cancels the test server's handler")
  func handlerCancelled() async throws {
    let gate = Gate()
    let cancellations = Log<Bool>()
    try await TestServer.with { _ in
      try? await gate.wait()
      cancellations.add(Task.isCancelled)
      return .text("")
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request()
      try await gate.waitForArrivals(1)
      await client.close()
      try await server.waitForClientClose(of: try await server.exchange())
      try await cancellations.first()
      #expect(cancellations.all == [true] && !gate.isOpen)
    }
  }

  @Test("A client's reset is detected even while a large reply is being sent")
  func clientResets() async throws {
    try await TestServer.with { _ in
      .generated(1 << 40)
    } body: { server in
      let client = try await RawClient.connect(to: server.port)
      try await client.request()
      _ = try await client.receive(1 << 20)
      // Closing a socket with unread bytes resets the connection.
      await client.close()
      let exchange = try await server.waitForClientClose(of: try await server.exchange())
      #expect(exchange.status == 200 && exchange.outcome == .clientClosed)
      try await server.wait { $0.openConnections == 0 }
      #expect(server.connectionFailures.isEmpty)
    }
  }

  // MARK: Delays

  @Test("A reply can wait for a gate before its head or inside its content")
  func gates() async throws {
    let (first, second) = (Gate(), Gate())
    let reply = Reply.text("hello").waiting(for: second, at: .content(2)).waiting(for: first)
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        try await first.waitForArrivals(1)
        #expect(server.exchanges.map(\.status) == [nil])
        first.open()
        _ = try await client.receiveHead()
        #expect(try await client.receiveText(2) == "he")
        try await second.waitForArrivals(1)
        #expect(server.exchanges.map(\.outcome) == [.inFlight])
        second.open()
        #expect(try await client.receiveText(3) == "llo")
        #expect(server.exchanges.map(\.outcome) == [.replied])
      }
    }
  }

  @Test("A reply can pause for a time")
  func pauses() async throws {
    let reply = Reply.text("hello", fields: ["Connection": "close"])
      .pausing(for: .milliseconds(1)).paced(by: 2, every: .milliseconds(1))
    #expect(try await answer(reply).text.hasSuffix("\r\n\r\nhello"))
  }

  @Test("The content of a reply can pass a gate piece by piece")
  func dripping() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .generated(0..<5, of: ContentPattern(repeating: Array("abc".utf8))).paced(by: 2, through: gate)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        _ = try await client.receiveHead()
        for (count, piece) in ["ab", "ca", "b"].enumerated() {
          try await gate.waitForArrivals(count + 1)
          gate.release()
          #expect(try await client.receiveText(piece.count) == piece)
        }
        #expect(server.exchanges.map(\.outcome) == [.replied])
      }
    }
  }

  // MARK: Ends

  @Test("A reply can close the connection without a response, or anywhere inside it")
  func closing() async throws {
    let early = try await answer(.closed)
    #expect(early.text.isEmpty && early.end == .closed)
    #expect(early.exchange.outcome == .serverClosed && early.exchange.status == nil)

    let truncated = try await answer(.text("hello").closing(at: .content(3)))
    #expect(truncated.text.hasSuffix("Content-Length: 5\r\n\r\nhel") && truncated.end == .closed)
    #expect(truncated.exchange.outcome == .serverClosed && truncated.exchange.status == 200)

    let chunked = try await answer(chunks.closing(at: .content(7)))
    #expect(chunked.text.hasSuffix("5\r\nhello\r\n5\r\nwo") && chunked.end == .closed)
    #expect(chunked.exchange.outcome == .serverClosed)

    let headOnly = try await answer(.text("hello").closing(at: .head), to: "HEAD")
    #expect(headOnly.exchange.outcome == .replied)
  }

  @Test("A chunked reply can omit only its last chunk")
  func noLastChunk() async throws {
    let (text, end, exchange) = try await answer(chunks.ending(with: .close, at: .content(10)))
    #expect(text.hasSuffix("5\r\nworld") && end == .closed)
    #expect(exchange.outcome == .serverClosed)
  }

  @Test("A reply can reset the connection without a response, or anywhere inside it")
  func resetting() async throws {
    let early = try await answer(.reset)
    #expect(early.text.isEmpty && early.end == .reset)
    #expect(early.exchange.outcome == .serverReset)
  }

  @Test(
    "A client can read the bytes that a reply sent before its reset", arguments: [Reply.Point.head, .content(3), .end])
  func resetInside(point: Reply.Point) async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .status(200, content: Array("hello".utf8)).resetting(at: point).waiting(for: gate, at: .end)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        let (text, end) = await client.receiveAll()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(end == .reset)
      }
      #expect(server.exchanges.map(\.outcome) == [.serverReset])
    }
  }

  @Test("A reply can close the connection unannounced after a complete response")
  func staleConnection() async throws {
    try await TestServer.with { _ in
      .text("hello").closing(at: .end)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        let (head, content) = try await client.receiveAnswer()
        #expect(!head.contains("Connection") && content == "hello")
        #expect(await client.receiveAll().end == .closed)
      }
      #expect(server.exchanges.map(\.outcome) == [.replied])
    }
  }

  @Test("A reply shorter than its Content-Length closes the connection")
  func wrongLength() async throws {
    let (text, end, exchange) = try await answer(.text("hello").setting("content-length", to: "9"))
    #expect(text.hasSuffix("content-length: 9\r\n\r\nhello") && end == .closed)
    #expect(exchange.outcome == .serverClosed)
  }

  @Test("A reply's Content-Length can be too small, invalid or missing")
  func otherLengths() async throws {
    try await TestServer.with { _ in
      .text("hello").setting("Content-Length", to: "2")
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        #expect(try await client.receiveAnswer().content == "he")
        #expect(try await client.receiveText(3) == "llo")
      }
      #expect(server.exchanges.map(\.outcome) == [.replied])
    }
    let nonsense = try await answer(.text("hello").setting("Content-Length", to: "five"))
    #expect(nonsense.text.hasSuffix("hello") && nonsense.exchange.outcome == .replied)
    let nothing = try await answer(.text("hello").setting("Content-Length", to: nil))
    #expect(!nothing.text.contains("Content-Length") && nothing.exchange.outcome == .replied)
  }

  @Test("A raw reply is sent unchanged for any method")
  func raw() async throws {
    let (text, end, exchange) = try await answer(.raw("HTTP/9 what?\r\n\0"), to: "HEAD")
    #expect(text == "HTTP/9 what?\r\n\0" && end == .closed)
    #expect(exchange.outcome == .replied && exchange.status == nil)
  }

  @Test("A reply without steps closes the connection")
  func empty() async throws {
    let (text, end, exchange) = try await answer(Reply(steps: []))
    #expect(text.isEmpty && end == .closed && exchange.outcome == .serverClosed)
  }

  @Test("Reply modifiers can be combined")
  func combined() async throws {
    let gate = Gate()
    let reply = Reply.json(#"{"id":1}"#).interim(103).waiting(for: gate).resetting(at: .content(4))
      .setting("Content-Type", to: "text/html")
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        try await gate.waitForArrivals(1)
        gate.open()
        let (text, end) = await client.receiveAll()
        #expect(text.hasPrefix("HTTP/1.1 103 \r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"))
        #expect(text.hasSuffix(#"{"id"#) && end == .reset)
      }
    }
  }

  @Test("A point beyond the content of a reply is the end of the reply")
  func pointsPastTheEnd() async throws {
    #expect(try await answer(.text("hello").closing(at: .content(9))).text.hasSuffix("hello"))
    #expect(try await answer(.raw("bytes").closing(at: .head)).text == "bytes")
    #expect(try await answer(.status(204).closing(at: .content(0))).text.hasPrefix("HTTP/1.1 204"))
  }
}
