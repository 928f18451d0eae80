public import ApusTestServer

/// A server of another version of HTTP that forwards requests to a test server.
public protocol Gateway: Sendable {
  /// A function that starts a gateway to a test server. The gateway has the given TLS, and the test server has none.
  typealias Start = @Sendable (_ server: TestServer, _ tls: TestServer.TLS?) async throws -> any Gateway

  /// The scheme, host and port for clients.
  var origin: String { get }
  /// Whether no client is connected.
  var isIdle: Bool { get }
  /// Fails if a client has violated the protocol.
  func requireConformance() throws
  /// Stops listening and closes all connections.
  func shutDown() async
}
