import NIOCore
import NIOPosix
import NIOSSL

/// An HTTP/1.1 server on 127.0.0.1 for tests. The server records every exchange, and misbehaves if a test specifies it.
///
/// Hundreds of servers can run concurrently; they share only NIO's event loops.
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
  /// A closure that returns the reply to a request.
  package typealias Handler = @Sendable (RecordedRequest) async -> Reply

  /// The port the server listens on.
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

  /// The scheme, host and port, such as `http://127.0.0.1:49152`.
  public var origin: String { "\(scheme)://127.0.0.1:\(port)" }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: The server's options.
  ///   - handler: Returns the reply to each request; called when the request is complete. Its task is cancelled when
  ///     the client disconnects or the server is shut down.
  /// - Throws: An error of the operating system if the server cannot listen on the port; an error of NIOSSL for
  ///   invalid certificates or keys.
  public static func start(
    options: Options = Options(), _ handler: @escaping @Sendable (RecordedRequest) async -> Reply
  ) async throws -> TestServer {
    let recorder = Recorder(contentLimit: options.contentLimit)
    let tls = try options.tls?.context()
    let behavior = ConnectionHandler.Behavior(
      reply: handler, repliesToHead: options.headReplies,
      stopsReadingAtHead: options.stopsReadingAtHead, faults: options.faults, tls: tls)
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let (connection, isShutDown) = recorder.opened(channel)
        channel.closeFuture.whenComplete { _ in recorder.closed(connection) }
        return channel.eventLoop.makeCompletedFuture {
          if isShutDown { throw ChannelError.ioOnClosedChannel }
          try ConnectionHandler.setUp(
            channel, connection: connection, recorder: recorder, behavior: behavior)
        }
      }
      .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: options.port)).get()
    guard let port = listener.localAddress?.port else { throw TestServerError.noPort }
    return TestServer(listener: listener, scheme: tls == nil ? "http" : "https", port: port, recorder: recorder)
  }

  /// Starts a server, runs `body` with it, and shuts it down whether or not `body` throws.
  ///
  /// - Throws: Any error that ``start(options:_:)`` or `body` throws.
  @discardableResult
  public static func with<Result>(
    options: Options = Options(), _ handler: @escaping @Sendable (RecordedRequest) async -> Reply,
    body: (TestServer) async throws -> Result
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

  /// Stops listening and closes all connections; exchanges in flight end as ``RecordedExchange/Outcome/shutDown``.
  ///
  /// On return, every socket of the server is closed. Handlers are cancelled but not waited for. Also works in a
  /// cancelled task; a second call does nothing.
  public func shutDown() async {
    close()
    try? await listener.closeFuture.get()
    // A connection accepted just before may be queued on an event loop: one turn of each loop records it.
    for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try? await loop.submit {}.get() }
    for connection in recorder.closeAll(.shutDown, isShutDown: true) {
      connection.close(promise: nil)
      try? await connection.closeFuture.get()
    }
  }

  /// Closes all connections but keeps listening; exchanges in flight end as
  /// ``RecordedExchange/Outcome/serverClosed``.
  ///
  /// A client finds its idle connections closed, as after a server's idle timeout.
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
