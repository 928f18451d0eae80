import ApusCore
import ApusNIO
import ApusTestServer
import Testing

/// The proxy is the test server, to which CONNECT is an ordinary request.
@Suite("Misbehaving proxies")
struct ProxyFaultTests {
  @Test(
    "A proxy that stops responding before, inside or after its response to CONNECT times out as not sent",
    arguments: ["", "HTTP/1.1 200 OK\r\nX-Slow: yes\r\n", "HTTP/1.1 200 OK\r\n\r\n"])
  func silent(said: String) async throws {
    try await TestServer.with { _ in
      Reply.raw(said).stalling(at: .end)
    } body: { proxy in
      try await NIOTransport.with {
        $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
        $0.connectTimeout = .milliseconds(300)
      } body: { transport in
        let client = try makeClient("https://localhost:1", transport)
        let error = try #require(await failure { try await client.send(message()) })
        #expect(error.code == .timeout)
        #expect(error.phase == .connecting)
        #expect(error.requestState == .notSent)
        // There may be no exchange at all, if the timeout passes first on a slow machine.
        #expect(proxy.exchanges.allSatisfy { $0.method == "CONNECT" && $0.target == "localhost:1" })
        try await proxy.wait { $0.openConnections == 0 }
      }
    }
  }

  @Test(
    "A proxy with an endless response to CONNECT is refused at the limits, as not sent",
    arguments: [
      ("HTTP/1.1 200 OK\r\n", "X-Flood: f\r\n"), ("HTTP/1.1 200 OK\r\nX-Flood: ", "f"), ("HTTP/1.1 200 ", "O"),
      ("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ])
  func flood(start: String, unit: String) async throws {
    // The flood exceeds the socket buffers by far, so that the proxy cannot finish before the client closes.
    let flood = Reply.Step.generated(ContentPattern(repeating: Array(unit.utf8)), 0..<64 << 20)
    try await TestServer.with { _ in
      Reply(steps: [.raw(Array(start.utf8)), flood])
    } body: { proxy in
      try await NIOTransport.with {
        $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
      } body: { transport in
        let client = try makeClient("https://localhost:1", transport)
        let error = try #require(await failure { try await client.send(message()) })
        #expect(error.code == .connectionFailed)
        #expect(error.requestState == .notSent)
        #expect(error.detail == "the proxy 127.0.0.1:\(proxy.port) sent a malformed response to CONNECT")
        try await proxy.waitForClientClose(of: try await proxy.exchange())
        #expect(proxy.exchanges.count == 1)
      }
    }
  }
}
