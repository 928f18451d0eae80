#if NIO
  import Apus
  import ApusNIO
  import ApusTestServer
  import ApusURLSession

  /// The transports that there are, for what has to be the same over all of them.
  enum Wire: String, CaseIterable {
    case urlSession, nio

    /// A client of a server over a transport of its own, which closes its connections when nobody holds it any more.
    func client(of server: TestServer, configure: (inout Configuration) -> Void = { _ in }) -> Client {
      let transport: any Transport =
        switch self {
        case .urlSession: URLSessionTransport()
        case .nio: NIOTransport()
        }
      return Client(baseURL: BaseURL(stringLiteral: server.origin), transport: transport) {
        $0.timeout = .seconds(300)
        configure(&$0)
      }
    }
  }
#endif
