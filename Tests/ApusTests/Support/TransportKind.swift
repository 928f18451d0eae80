import Apus
import ApusNIO
import ApusTestServer
import ApusURLSession

/// All transports, for behavior that must be the same with each transport.
enum TransportKind: String, CaseIterable {
  case urlSession, nio

  /// Returns a client of a server with a new transport, which closes its connections when it is released.
  ///
  /// Timeouts are long, and nothing is retried.
  func client(of server: TestServer, configure: (inout Configuration) -> Void = { _ in }) -> Client {
    let transport: any Transport =
      switch self {
      case .urlSession: URLSessionTransport()
      case .nio: NIOTransport()
      }
    return Client(baseURL: BaseURL(stringLiteral: server.origin), transport: transport) {
      $0.apply(.server)
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      $0.retry = .none
      configure(&$0)
    }
  }
}
