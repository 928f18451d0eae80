#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

/// Streams and connections that a server made with the Python library h2 ends, and its small windows.
@Suite("HTTP/2: h2", .needs(.h2))
struct HTTP2StreamEndTests {
  private let unique = Int.random(in: 1_000_000_000...2_000_000_000)

  @Test(
    "An exchange with h2 succeeds over HTTP/2", arguments: HTTP2Check.all(except: [.http1]))
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.h2.value)
  }

  @Test(
    "A request that the server has not processed is sent again, with any method",
    arguments: ["refused", "unprocessed"], [HTTPRequest.Method.get, .post])
  func unprocessed(way: String, method: HTTPRequest.Method) async throws {
    try await withHTTP2(try await RealServer.h2.value) { client, _ in
      _ = try await client.send(message(.get, "/text.txt"))
      for number in 0..<5 {
        let path = RequestPath(stringLiteral: "/\(way)/\(unique + number)")
        var request = message(method, path)
        if method == .post { request = request.content(.text("seven b")) }
        let response = try await client.response(to: request)
        #expect(response.value.string == (method == .post ? "7" : "0"))
      }
    }
  }

  @Test("A connection whose last stream is announced serves that stream, and the next call uses another one")
  func farewell() async throws {
    try await withHTTP2(try await RealServer.h2.value) { client, _ in
      for number in 0..<5 {
        let path = RequestPath(stringLiteral: "/farewell/\(unique + number)")
        let response = try await client.response(to: message(.post, path).content(.text("seven b")))
        #expect(response.value.string == "7")
        #expect(response.isOnNewConnection)
      }
    }
  }

  @Test("A stream that the server resets is an error with the code's name; the connection serves the next call")
  func resets() async throws {
    try await withHTTP2(try await RealServer.h2.value) { client, _ in
      _ = try await client.send(message(.get, "/text.txt"))
      for (path, state) in [("/reset/2", .maybeSent), ("/reset/2/half", .responded)] as [(RequestPath, RequestState)] {
        let error = try #require(await failure { try await client.send(message(.post, path).content(.text("a"))) })
        #expect(error.code == .connectionLost)
        #expect(error.requestState == state)
        #expect("\(error)".contains("INTERNAL_ERROR"))
        let next = try await client.response(to: message(.get, "/text.txt"))
        #expect(!next.isOnNewConnection)
      }
    }
  }

  @Test("Calls wait for the only stream that the server permits")
  func oneStream() async throws {
    try await withHTTP2(try await RealServer.h2.value, "single") {
      $0.protocols = [.http2]
      $0.maximumConnectionsPerOrigin = 1
    } body: { client, _ in
      // The server's SETTINGS have arrived by then.
      _ = try await client.send(message(.get, "/text.txt"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          group.addTask {
            let path = RequestPath(stringLiteral: "/call/\(unique + number)")
            let response = try await client.response(to: message(.post, path).content(.text("seven b")))
            #expect(response.value.string == "7")
            #expect(!response.isOnNewConnection)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Content larger than the server's windows arrives completely, also of several requests at a time")
  func narrowWindows() async throws {
    try await withHTTP2(try await RealServer.h2.value, "narrow") {
      $0.protocols = [.http2]
    } body: { client, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in 0..<8 {
          group.addTask {
            let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8 &+ seed) })
            let echo = try await client.send(message(.post, "/echo").content(.bytes(content)))
            #expect(echo.data == content)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Padded content arrives without its padding")
  func padding() async throws {
    try await withHTTP2(try await RealServer.h2.value) { client, _ in
      for _ in 0..<20 {
        let content = try await client.send(message(.get, "/padded"))
        #expect(content.string == HTTP2Check.text)
      }
    }
  }
}
#endif
