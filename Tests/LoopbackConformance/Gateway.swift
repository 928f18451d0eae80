public import ApusTestServer

/// A server of another version of HTTP that forwards requests to a test server.
public protocol Gateway: Sendable {
  /// A function that starts a gateway to a test server without TLS. The TLS is the gateway's; `nil` for none.
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

extension Gateway {
  /// Fails unless all clients have disconnected and none has violated the protocol. Call it after the shutdown of all
  /// transports.
  func requireQuiet() async throws {
    try requireConformance()
    try await requireSoon("clients are connected to the gateway") { isIdle }
  }
}

/// Runs `body` with a gateway to a server, or with `nil` if there is none to start, and shuts the gateway down.
///
/// - Throws: a failure if a client has violated the gateway's protocol; any other error that `body` throws.
public func withGateway<Result>(
  _ start: Gateway.Start?, to server: TestServer, tls: TestServer.TLS? = nil,
  body: ((any Gateway)?) async throws -> Result
) async throws -> Result {
  guard let gateway = try await start?(server, tls) else { return try await body(nil) }
  do {
    let result = try await body(gateway)
    await gateway.shutDown()
    try gateway.requireConformance()
    return result
  } catch {
    await gateway.shutDown()
    // The violation is the cause of the error.
    try gateway.requireConformance()
    throw error
  }
}
