#if !canImport(Darwin)
import ApusCore
import ApusTestServer
import ApusURLSession
import Testing

/// Responses that crash the process inside `URLSession` on Linux. No delegate can prevent the crash, so each test
/// receives its response in a separate process.
///
/// A test fails as soon as the platform no longer crashes. Then remove that test, and the exceptions in other tests for
/// the same response.
@Suite("Responses that crash the process inside URLSession")
struct CrashingResponsesTests {
  private static func send(answering reply: Reply) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let client = try makeClient(server)
      _ = await errorOf { try await client.send(message()) }
    }
  }

  @Test("Ordinary, empty and malformed responses do not crash the process")
  func ordinary() async {
    await #expect(processExitsWith: .success) {
      for text in ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", "garbage", "HTTP/1.1 200 OK"] {
        try await Self.send(answering: .raw(text))
      }
    }
  }

  @Test("A head that ends after a line, before its empty line, crashes the process")
  func headCutOff() async {
    await #expect(processExitsWith: .failure) { try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n")) }
  }

  @Test("A head with a line that begins with NUL crashes the process")
  func lineOfNUL() async {
    await #expect(processExitsWith: .failure) {
      try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n\0: x\r\n\r\n"))
    }
  }

  @Test("Trailer fields after chunked content crash the process")
  func trailers() async {
    await #expect(processExitsWith: .failure) {
      try await Self.send(answering: .chunked([[1]], trailers: ["X-Sum": "1"]))
    }
  }
}
#endif
