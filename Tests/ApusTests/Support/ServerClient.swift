#if NIO && (URLSession || os(Linux))
  import Apus
  import ApusTestServer

  #if os(Linux)
    import ApusNIO
  #endif

  extension TestServer {
    /// A client of this server, over the platform's own transport.
    ///
    /// Its calls may take long, and so may what belongs to them: hundreds of tests at once on a small machine are no
    /// reason to fail. As many run at a time as between servers, and nothing is tried again: so each test knows what
    /// is on the wire.
    func client(path: String = "", configure: (inout Configuration) -> Void = { _ in }) -> Client {
      let baseURL = BaseURL(stringLiteral: origin + path)
      let patient = { (configuration: inout Configuration) in
        configuration.suit(.server)
        configuration.timeout = .seconds(300)
        configuration.attemptTimeout = nil
        configuration.retry = .none
        configure(&configuration)
      }
      #if os(Linux)
        var options = NIOTransport.Options()
        options.connectTimeout = nil
        options.firstByteTimeout = nil
        options.stallTimeout = nil
        return Client(baseURL: baseURL, transport: NIOTransport(options: options), configure: patient)
      #else
        return Client(baseURL: baseURL, configure: patient)
      #endif
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
