import Apus
import ApusNIO
import ApusTestServer
import ApusURLSession
import HTTP2Gateway
import LoopbackConformance

/// All transports, for behavior that must be the same with each transport.
enum TransportKind: String, CaseIterable {
  case urlSession, nio, nioHTTP2

  /// Runs a server whose clients have transports of this kind.
  func withServer<Result>(
    _ handler: @escaping @Sendable (RecordedRequest) async -> Reply, body: (ReachableServer) async throws -> Result
  ) async throws -> Result {
    try await TestServer.with(handler) { server in
      try await withGateway(self == .nioHTTP2 ? HTTP2Gateway.start : nil, to: server) { gateway in
        try await body(ReachableServer(server: server, origin: gateway?.origin ?? server.origin))
      }
    }
  }

  /// Returns a client of a server with a new transport, which closes its connections when it is released.
  ///
  /// Timeouts are long, and nothing is retried.
  func client(of server: ReachableServer, configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: BaseURL(stringLiteral: server.origin), transport: transport) {
      $0.apply(.server)
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      $0.retry = .none
      configure(&$0)
    }
  }

  private var transport: any Transport {
    switch self {
    case .urlSession: return URLSessionTransport()
    case .nio: return NIOTransport()
    case .nioHTTP2:
      var options = NIOTransport.Options()
      options.protocols = [.http2]
      return NIOTransport(options: options)
    }
  }
}

/// A test server, and the origin at which its clients reach it.
@dynamicMemberLookup
struct ReachableServer: Sendable {
  let server: TestServer
  let origin: String

  subscript<Value>(dynamicMember property: KeyPath<TestServer, Value>) -> Value { server[keyPath: property] }
}
