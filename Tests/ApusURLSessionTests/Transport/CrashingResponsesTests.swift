#if !canImport(Darwin)
import ApusCore
import ApusTestServer
import ApusURLSession
import Testing

/// Responses whose effect on Linux no delegate of `URLSession` can prevent, each in a process of its own.
///
/// A test fails as soon as the platform no longer crashes. Then remove it, together with the exceptions that other
/// tests make because of it.
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

  @Test("An ordinary response, an empty one and garbage do not")
  func ordinary() async {
    await #expect(processExitsWith: .success) {
      for text in ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", "garbage", "HTTP/1.1 200 OK"] {
        try await Self.send(answering: .raw(text))
      }
    }
  }

  @Test("A head that breaks off after a line, before its end")
  func headCutOff() async {
    await #expect(processExitsWith: .failure) { try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n")) }
  }

  @Test("A head with a line that begins with NUL")
  func lineOfNUL() async {
    await #expect(processExitsWith: .failure) {
      try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n\0: x\r\n\r\n"))
    }
  }

  @Test("Trailer fields after chunked content")
  func trailers() async {
    await #expect(processExitsWith: .failure) {
      try await Self.send(answering: .chunked([[1]], trailers: ["X-Sum": "1"]))
    }
  }
}
#endif
