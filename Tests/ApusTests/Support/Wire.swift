#if NIO
  import Apus
  import ApusNIO
  import ApusTestServer
  import ApusURLSession

  /// The transports that there are, for what has to be the same over all of them.
  enum Wire: String, CaseIterable {
    case urlSession, nio

    /// A client of a server over a transport of its own, which closes its connections when nobody holds it any more.
    ///
    /// Its calls and their attempts may take long, and nothing is tried again.
    func client(of server: TestServer, configure: (inout Configuration) -> Void = { _ in }) -> Client {
      let transport: any Transport =
        switch self {
        case .urlSession: URLSessionTransport()
        case .nio: NIOTransport()
        }
      return Client(baseURL: BaseURL(stringLiteral: server.origin), transport: transport) {
        $0.suit(.server)
        $0.timeout = .seconds(300)
        $0.attemptTimeout = nil
        $0.retry = .none
        configure(&$0)
      }
    }
  }
#endif
