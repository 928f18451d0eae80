#if NIO && (URLSession || os(Linux))
  import Apus
  import ApusTestServer

  extension TestServer {
    /// A client of this server, over the platform's own transport.
    ///
    /// Its calls may take long: hundreds of tests at once on a small machine are no reason to fail.
    func client(path: String = "", configure: (inout Configuration) -> Void = { _ in }) -> Client {
      Client(baseURL: BaseURL(stringLiteral: origin + path)) {
        $0.timeout = .seconds(300)
        configure(&$0)
      }
    }
  }

  /// Starts a server that gives every request one answer, and a client of it.
  func withServer<Result>(
    answering reply: Reply = .status(204), path: String = "",
    _ body: (_ api: Client, _ server: TestServer) async throws -> Result
  ) async throws -> Result {
    try await TestServer.with { _ in
      reply
    } body: {
      try await body($0.client(path: path), $0)
    }
  }
#endif
