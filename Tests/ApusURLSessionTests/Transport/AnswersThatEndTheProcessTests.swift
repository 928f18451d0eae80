#if !canImport(Darwin)
  import ApusCore
  import ApusTestServer
  import ApusURLSession
  import Testing

  /// What no delegate of `URLSession` can prevent on Linux, each in a process of its own.
  ///
  /// These are no wishes: a test here fails as soon as the platform has mended what it shows, and then goes, together
  /// with what other tests leave out because of it.
  @Suite("Answers that end the process inside of URLSession")
  struct AnswersThatEndTheProcessTests {
    private static func send(answering reply: Reply) async throws {
      try await TestServer.with { _ in
        reply
      } body: { server in
        let client = try makeClient(server)
        _ = await errorOf { try await client.send(message()) }
      }
    }

    @Test("an ordinary answer, an empty one and garbage do not")
    func ordinary() async {
      await #expect(processExitsWith: .success) {
        for text in ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", "garbage", "HTTP/1.1 200 OK"] {
          try await Self.send(answering: .raw(text))
        }
      }
    }

    @Test("a head that breaks off behind a line, before its end")
    func headCutOff() async {
      await #expect(processExitsWith: .failure) { try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n")) }
    }

    @Test("a head with a line that begins with NUL")
    func lineOfNUL() async {
      await #expect(processExitsWith: .failure) {
        try await Self.send(answering: .raw("HTTP/1.1 200 OK\r\n\0: x\r\n\r\n"))
      }
    }

    @Test("trailer fields behind content in chunks")
    func trailers() async {
      await #expect(processExitsWith: .failure) {
        try await Self.send(answering: .chunked([[1]], trailers: ["X-Sum": "1"]))
      }
    }
  }
#endif
