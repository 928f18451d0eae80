import Apus
import ApusTestServer

#if os(Linux)
import ApusNIO
#endif

extension TestServer {
  /// Returns a client of this server with the platform's own transport.
  ///
  /// Timeouts are long, because hundreds of tests run concurrently on a small machine. Server limits apply and nothing
  /// is retried, so that tests can predict the requests.
  func client(path: String = "", configure: (inout Configuration) -> Void = { _ in }) -> Client {
    let baseURL = BaseURL(stringLiteral: origin + path)
    let patient = { (configuration: inout Configuration) in
      configuration.apply(.server)
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

/// Starts a server with a single reply for every request, and a client of that server.
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

extension CallPhase {
  /// The phase of a call without content once its request was sent. `URLSession` reports sending only with the head.
  static var afterSending: CallPhase {
    #if os(Linux)
    .awaitingHead
    #else
    .connecting
    #endif
  }
}
