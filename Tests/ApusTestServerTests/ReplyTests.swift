#if NIO
  import ApusTestServer
  import Testing

  @Suite struct ReplyTests {
    @Test("A proper answer has a fitting length and keeps the connection")
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
        #expect(server.exchanges.map(\.outcome) == [.answered, .answered, .answered])
      }
    }
  }
#endif
