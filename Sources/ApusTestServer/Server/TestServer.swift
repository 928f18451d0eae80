#if NIO
  import NIOCore
  import NIOPosix
  import NIOSSL

  /// An HTTP/1.1 server on 127.0.0.1 for tests: records every exchange, and misbehaves when told to.
  ///
  /// Hundreds of them may run at once; they share NIO's event loops and nothing else.
  ///
  /// ```swift
  /// try await TestServer.with { request in
  ///   request.number == 0 ? .status(503) : .json("[]")
  /// } body: { server in
  ///   // … call server.origin …
  ///   #expect(server.exchanges.map(\.status) == [503, 200])
  /// }
  /// ```
  public final class TestServer: Sendable {
    /// Makes the reply to a request. It is cancelled when the client leaves and when the server is shut down.
    public typealias Handler = @Sendable (RecordedRequest) async -> Reply

    /// The port it listens on.
    public let port: Int
    let recorder: Recorder
    private let listener: any Channel
    private let scheme: String

    private init(listener: any Channel, scheme: String, port: Int, recorder: Recorder) {
      self.listener = listener
      self.scheme = scheme
      self.port = port
      self.recorder = recorder
    }

    deinit {
      close()
    }

    /// The scheme, host and port to call: `http://127.0.0.1:49152`, say.
    public var origin: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - options: How it listens and what it keeps.
    ///   - handler: Makes the reply to each request, at the moment `options` say.
    /// - Throws: An error of the operating system when it cannot listen on the port; what TLS finds wrong with its
    ///   certificates and keys.
    public static func start(
      options: Options = Options(), _ handler: @escaping Handler
    ) async throws -> TestServer {
      let recorder = Recorder(contentCap: options.contentCap)
      let secure = try options.tls?.context()
      let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.backlog, value: 4096)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          let (connection, isShutDown) = recorder.opened(channel)
          channel.closeFuture.whenComplete { _ in recorder.closed(connection) }
          return channel.eventLoop.makeCompletedFuture {
            if isShutDown { throw ChannelError.ioOnClosedChannel }
            let setUp: @Sendable (any Channel) throws -> Void = { channel in
              if let secure { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: secure)) }
              try channel.pipeline.syncOperations.addHandler(
                ConnectionHandler(connection: connection, recorder: recorder, handler: handler, options: options))
            }
            guard let effect = options.faults.effect(onConnection: connection) else { return try setUp(channel) }
            try channel.syncOptions?.setOption(.autoRead, value: effect.isEndless)
            try channel.pipeline.syncOperations.addHandler(
              Greeting(effect, connection: connection, recorder: recorder, setUp: setUp))
          }
        }
        .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: options.port)).get()
      guard let port = listener.localAddress?.port else { throw TestServerError.noPort }
      return TestServer(listener: listener, scheme: secure == nil ? "http" : "https", port: port, recorder: recorder)
    }

    /// Starts a server, runs `body` with it, and shuts it down whatever happens.
    ///
    /// - Throws: What ``start(options:_:)`` or `body` throws.
    @discardableResult
    public static func with<Result>(
      options: Options = Options(), _ handler: @escaping Handler, body: (TestServer) async throws -> Result
    ) async throws -> Result {
      let server = try await start(options: options, handler)
      do {
        let result = try await body(server)
        await server.shutDown()
        return result
      } catch {
        await server.shutDown()
        throw error
      }
    }

    /// Stops listening and closes all connections; exchanges in flight end as ``Exchange/Outcome/shutDown``.
    ///
    /// When it returns, every socket of the server is closed. It does not wait for handlers, only cancels them. It
    /// completes even in a cancelled task, and a second time does nothing.
    public func shutDown() async {
      close()
      try? await listener.closeFuture.get()
      // A connection accepted just before is on its way to an event loop; after one turn of each it is recorded.
      for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try? await loop.submit {}.get() }
      for connection in recorder.closeAll(.shutDown, isShutDown: true) {
        connection.close(promise: nil)
        try? await connection.closeFuture.get()
      }
    }

    /// Closes all connections and goes on listening; exchanges in flight end as ``Exchange/Outcome/serverClosed``.
    ///
    /// Connections that a client keeps for later use are found closed by it, as after a server's idle timeout.
    public func closeConnections() async {
      for connection in recorder.closeAll(.serverClosed, isShutDown: false) {
        connection.close(promise: nil)
        try? await connection.closeFuture.get()
      }
    }

    private func close() {
      let connections = recorder.closeAll(.shutDown, isShutDown: true)
      listener.close(promise: nil)
      for connection in connections { connection.close(promise: nil) }
    }
  }
#endif
