public import ApusTestServer
import ApusTesting
public import LoopbackConformance
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server on 127.0.0.1 that carries each stream to a test server over an HTTP/1.1 connection of its own.
///
/// Without TLS, clients need prior knowledge (RFC 9113 §3.3). The gateway adds `Via: 2.0 N` to each request, where N is
/// the number of the client's connection. A violation of HTTP/2 by the client closes the connection, and is recorded.
public final class HTTP2Gateway: Gateway {
  /// The scheme, host and port.
  public let origin: String
  private let listener: any Channel
  private let record: GatewayRecord

  private init(origin: String, listener: any Channel, record: GatewayRecord) {
    (self.origin, self.listener, self.record) = (origin, listener, record)
  }

  /// Starts a gateway to a test server without TLS.
  ///
  /// - Parameter tls: the gateway's TLS; `nil` for none.
  @Sendable
  public static func start(to server: TestServer, tls: TestServer.TLS? = nil) async throws -> any Gateway {
    let record = GatewayRecord()
    let (port, scheme) = (server.port, tls == nil ? "http" : "https")
    let secure = try tls.map { try context($0) }
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 4096)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let connection = record.opened(channel)
        channel.closeFuture.whenComplete { _ in record.closed(connection) }
        return channel.eventLoop.makeCompletedFuture {
          let operations = channel.pipeline.syncOperations
          if let secure { try operations.addHandler(NIOSSLServerHandler(context: secure)) }
          try operations.addHandler(GatewayConnection(connection, scheme: scheme, port: port, record: record))
        }
      }
      .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
    let origin = "\(scheme)://127.0.0.1:\(listener.localAddress?.port ?? 0)"
    return HTTP2Gateway(origin: origin, listener: listener, record: record)
  }

  private static func context(_ tls: TestServer.TLS) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(tls.certificates.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(tls.key.utf8), format: .pem)))
    configuration.applicationProtocols = ["h2"]
    return try NIOSSLContext(configuration: configuration)
  }

  /// Fails if a client has violated HTTP/2.
  public func requireConformance() throws {
    let violations = record.violations
    guard violations.isEmpty else { throw ConformanceFailure("violations of HTTP/2: \(violations)") }
  }

  /// Whether no client is connected.
  public var isIdle: Bool { record.channels.isEmpty }

  /// Stops listening and closes all connections.
  public func shutDown() async {
    try? await listener.close().get()
    for channel in record.channels { try? await channel.close().get() }
  }
}

/// The connections of a gateway, and the violations of HTTP/2 by its clients.
final class GatewayRecord: Sendable {
  private struct State {
    var count = 0
    var channels: [Int: any Channel] = [:]
    var violations: [String] = []
  }

  private let state = Mutex(State())

  var violations: [String] { state.withLock { $0.violations } }
  var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

  /// Adds a connection and returns its number, from 0.
  func opened(_ channel: any Channel) -> Int {
    state.withLock { state in
      defer { state.count += 1 }
      state.channels[state.count] = channel
      return state.count
    }
  }

  func closed(_ connection: Int) {
    state.withLock { $0.channels[connection] = nil }
  }

  func add(_ violation: ClientViolation, connection: Int) {
    state.withLock { $0.violations.append("connection \(connection): \(violation)") }
  }
}
