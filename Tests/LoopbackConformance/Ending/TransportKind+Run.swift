public import ApusCore
public import ApusTestServer
import ApusTesting

extension TransportKind {
  /// Runs `body` with a server and a client on a transport of the kind. Then shuts the transport down, and fails unless
  /// all calls, used connections, client tasks and server exchanges have ended.
  ///
  /// Calls respect their timeout, on the clock of `settings`.
  public func run<Result: Sendable>(
    _ options: TestServer.Options = TestServer.Options(), _ settings: ClientSettings = ClientSettings(),
    _ handler: @escaping @Sendable (RecordedRequest) async -> Reply, body: (TestServer, Client) async throws -> Result
  ) async throws -> Result {
    var options = options
    options.tls = gateway == nil ? tls : nil
    let server = try await TestServer.start(options: options, handler)
    let over = Gate()
    do {
      // A fault in the handshake causes an error of the server's TLS.
      let spoils = options.tls != nil && options.faults.contains { $0.trigger == .connect }
      let result = try await withGateway(gateway, to: server, tls: tls) { gateway in
        let result = try await attend(gateway?.origin ?? server.origin, settings, over) { try await body(server, $0) }
        try await server.requireQuiet(mayFail: spoils)
        try await gateway?.requireQuiet()
        return result
      }
      try await requireSoon("a task of the client is left") { try await over.wait() }
      await server.shutDown()
      return result
    } catch {
      await server.shutDown()
      throw error
    }
  }

  /// Runs `body` with a client. After the return, only leaked tasks can still retain the client.
  private func attend<Result: Sendable>(
    _ origin: String, _ settings: ClientSettings, _ over: Gate, _ body: (Client) async throws -> Result
  ) async throws -> Result {
    let presence = Presence(over)
    let opened = open()
    var pipeline = Pipeline()
    pipeline.insert(CallDeadline(), .after(.timeout))
    let client = Client(
      environment: Environment(baseURL: try BaseURL(origin)), pipeline: pipeline,
      transport: Attended(transport: opened.transport, presence: presence), settings: settings)
    do {
      let result = try await Presence.$current.withValue(presence) { try await body(client) }
      guard client.calls.isEmpty else { throw ConformanceFailure("calls are left in the registry") }
      try await requireUnused(opened.isQuiet)
      await opened.shutDown()
      return result
    } catch {
      await opened.shutDown()
      throw error
    }
  }
}

/// A transport that retains a presence.
private struct Attended: Transport {
  let transport: any Transport
  let presence: Presence

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await transport.send(request, context: context)
  }
}

/// A middleware that applies a call's timeout.
public struct CallDeadline: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Limits the context by the call's `timeout`.
  public func intercept(
    _ request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    var context = context
    if let timeout = context.call.timeout { context.limit(to: context.call.startInstant.advanced(by: timeout)) }
    return try await next(request, context: context)
  }
}
