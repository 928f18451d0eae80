import ApusTestServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct ReplyTests {
  /// Returns all bytes that a client receives for a request with `Connection: close`.
  private func answer(
    _ reply: Reply, to method: String = "GET"
  ) async throws -> (text: String, exchange: RecordedExchange) {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let text = try await RawClient.with(server.port) { client in
        try await client.request(method, "/", "Connection: close\r\n")
        let (text, end) = await client.receiveAll()
        #expect(end == .closed)
        return text
      }
      return (text, try #require(server.exchanges.first))
    }
  }

  @Test("A normal reply has a matching Content-Length and keeps the connection alive")
  func properAnswer() async throws {
    try await TestServer.with { _ in
      .text("hello", fields: ["X-One": "1", "X-One": "2"])
    } body: { server in
      try await RawClient.with(server.port) { client in
        for _ in 0..<3 {
          try await client.request()
          let (head, content) = try await client.receiveAnswer()
          #expect(
            head.hasPrefix("HTTP/1.1 200 OK\r\nX-One: 1\r\nX-One: 2\r\nContent-Type: text/plain; charset=utf-8\r\n"))
          #expect(head.contains("Content-Length: 5\r\n"))
          #expect(content == "hello")
        }
      }
      #expect(server.acceptedConnections == 1)
      #expect(server.exchanges.map(\.outcome) == [.replied, .replied, .replied])
      #expect(server.exchanges.map(\.connection) == [0, 0, 0])
    }
  }

  @Test("A JSON reply has its media type unless the test sets another")
  func json() async throws {
    let proper = try await answer(.json("{}", status: 201))
    #expect(proper.text == "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    #expect(proper.exchange.status == 201)
    let wrong = try await answer(.json("{}", fields: ["content-type": "text/html"]))
    #expect(wrong.text == "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nContent-Length: 2\r\n\r\n{}")
  }

  @Test("A reply to HEAD has the Content-Length but no content")
  func head() async throws {
    let counted = try await answer(.text("hello"), to: "HEAD")
    #expect(counted.text.hasSuffix("Content-Length: 5\r\n\r\n"))
    #expect(counted.exchange.outcome == .replied)
    let chunked = try await answer(.chunked([[1]], trailers: ["X": "y"]), to: "HEAD")
    #expect(chunked.text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    let generated = try await answer(.generated(1 << 40), to: "HEAD")
    #expect(generated.text.hasSuffix("Content-Length: 1099511627776\r\n\r\n"))
  }

  @Test("Replies with status 204 and 304 have no content", arguments: [204, 304])
  func noContent(status: Int) async throws {
    let (text, exchange) = try await answer(.status(status, fields: ["ETag": "x"], content: [1, 2]))
    #expect(text.hasSuffix("\r\nETag: x\r\n\r\n"))
    #expect(!text.contains("Content-Length"))
    #expect(exchange.outcome == .replied)
  }

  @Test("A chunked reply sends the given chunks, followed by the trailers")
  func chunked() async throws {
    let pieces = [Array("hello".utf8), [], Array(repeating: UInt8(ascii: "x"), count: 16)]
    let (text, exchange) = try await answer(.chunked(pieces, trailers: ["X-Sum": "1"]))
    #expect(text.hasSuffix("chunked\r\n\r\n5\r\nhello\r\n10\r\nxxxxxxxxxxxxxxxx\r\n0\r\nX-Sum: 1\r\n\r\n"))
    #expect(exchange.outcome == .replied)
  }

  @Test("An unframed reply's content ends with the connection")
  func unframed() async throws {
    try await TestServer.with { _ in
      .unframed(Array("all".utf8))
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        #expect(await client.receiveAll() == ("HTTP/1.1 200 OK\r\n\r\nall", .closed))
      }
      #expect(server.exchanges.map(\.outcome) == [.replied])
    }
  }

  @Test("Interim responses precede the final response, and the recorded status is that of the final response")
  func interim() async throws {
    let (text, exchange) = try await answer(.text("x").interim(103, fields: ["Link": "a"]).interim(102))
    #expect(
      text.hasPrefix("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 \r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n"))
    #expect(exchange.status == 200)
  }

  @Test("Generated content of any size is sent no faster than it is read")
  func generated() async throws {
    let length = 24_000_001
    try await TestServer.with { _ in
      .generated(length)
    } body: { server in
      let client = try await RawClient.connect(to: server.port, receiveBuffer: 1 << 14)
      try await client.request()
      _ = try await client.receiveHead()
      // The content exceeds the socket buffers, so the server waits for the client.
      #expect(server.exchanges.first?.outcome == .inFlight)
      var digest = ContentDigest()
      var rest = length
      while rest > 0 {
        let block = try await client.receive(min(rest, 1 << 16))
        digest.update(with: block)
        rest -= block.count
      }
      #expect(digest == ContentPattern.counting.digest(of: length))
      #expect(server.exchanges.first?.outcome == .replied)
      await client.close()
    }
  }

  @Test("Large reply content is sent completely and unchanged")
  func large() async throws {
    let content = ContentPattern.counting.bytes(0..<1_000_000)
    try await TestServer.with { _ in
      .status(200, content: content)
    } body: { server in
      try await RawClient.with(server.port) { client in
        try await client.request()
        _ = try await client.receiveHead()
        #expect(ContentDigest(of: try await client.receive(content.count)) == ContentDigest(of: content))
      }
    }
  }

  @Test("An unknown status is sent unchanged", arguments: [99, 299, 999, 1000])
  func unknownStatus(status: Int) async throws {
    #expect(try await answer(.status(status)).text.hasPrefix("HTTP/1.1 \(status) "))
  }
}
