#if NIO
  public import ApusCore
  public import ApusTestServer
  import ApusTesting

  extension TransportKind {
    /// Runs `body` with a server and a client on a transport of the kind; then shuts the transport down, and fails
    /// unless everything is over: see ``requireQuiet(_:_:_:)``.
    ///
    /// Calls obey their time limit, on the clock of `settings`.
    public func run<Result: Sendable>(
      _ options: TestServer.Options = TestServer.Options(), _ settings: ClientSettings = ClientSettings(),
      _ handler: @escaping TestServer.Handler, body: (TestServer, Client) async throws -> Result
    ) async throws -> Result {
      var options = options
      options.tls = tls
      let server = try await TestServer.start(options: options, handler)
      let over = ApusTesting.Gate()
      do {
        let result = try await attend(server, settings, over, body)
        // A handshake that a fault spoilt ends as a failure of the server's TLS.
        let spoils = tls != nil && options.faults.contains { $0.trigger == .connect }
        try await requireQuiet(server, over, mayFail: spoils)
        await server.shutDown()
        return result
      } catch {
        await server.shutDown()
        throw error
      }
    }

    /// When it returns, nobody but tasks that should have ended holds the client.
    private func attend<Result: Sendable>(
      _ server: TestServer, _ settings: ClientSettings, _ over: ApusTesting.Gate,
      _ body: (TestServer, Client) async throws -> Result
    ) async throws -> Result {
      let presence = Presence(over)
      let opened = open()
      var pipeline = Pipeline()
      pipeline.insert(CallDeadline(), .after(.totalDeadline))
      let client = Client(
        environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline,
        transport: Attended(transport: opened.transport, presence: presence), settings: settings)
      do {
        let result = try await Presence.$current.withValue(presence) { try await body(server, client) }
        guard client.calls.isEmpty else { throw ConformanceFailure("calls are left in the registry") }
        await opened.shutDown()
        return result
      } catch {
        await opened.shutDown()
        throw error
      }
    }

    /// Fails unless nothing is left once the transport is shut down: no connection, no exchange, no task of the
    /// client, no error that the server did not catch, no bytes that were no request.
    private func requireQuiet(_ server: TestServer, _ over: ApusTesting.Gate, mayFail: Bool) async throws {
      try await limited("connections or exchanges are left on the server") {
        try await server.wait { $0.openConnections == 0 && $0.inFlight == 0 }
      }
      try await limited("a task of the client is left") { try await over.wait() }
      let rejections = server.rejections.map(\.reason)
      guard rejections.isEmpty else { throw ConformanceFailure("the server was sent no requests: \(rejections)") }
      let failures = server.failures.map(\.reason)
      guard mayFail || failures.isEmpty else { throw ConformanceFailure("the server did not catch: \(failures)") }
    }

    private func limited(_ finding: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
          try await Task.sleep(for: .seconds(120))
          throw ConformanceFailure(finding)
        }
        _ = try await group.next()
        group.cancelAll()
      }
    }
  }

  /// A transport that is held together with a presence.
  private struct Attended: Transport {
    let transport: any Transport
    let presence: Presence

    func send(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
      try await transport.send(request, context: context)
    }
  }

  /// Puts a call's time limit into force.
  public struct CallDeadline: Middleware {
    /// The one there is.
    public init() {}

    /// Limits the context by the call's `timeout`.
    public func intercept(
      _ request: RequestMessage, context: CallContext, next: Next
    ) async throws -> ResponseMessage {
      var context = context
      if let timeout = context.timeout { context.limit(to: context.startInstant.advanced(by: timeout)) }
      return try await next(request, context: context)
    }
  }
#endif
