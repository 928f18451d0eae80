import ApusTesting
import NIOCore
import NIOPosix
import NIOSSL

@testable import ApusNIO

/// A server that sends arbitrary frames, also invalid ones, and judges the client's frames. Speaks HTTP/2 without
/// negotiation over cleartext, or over TLS.
final class FrameServer: Sendable {
  let port: Int
  private let monitor: Monitor<State>

  private struct State {
    /// By connection, in order of acceptance.
    var received: [Received] = []
    var endedCalls: Set<Int> = []
  }

  /// What the client has sent, by connection in order of acceptance.
  var received: [Received] { monitor.state.received }

  private init(port: Int, monitor: Monitor<State>) {
    (self.port, self.monitor) = (port, monitor)
  }

  /// Runs `body` with a server that plays the first script on its first connection, and so on. Further connections have
  /// no faults.
  ///
  /// - Parameter identity: the server's identity for TLS. Default: `nil`, cleartext.
  static func with<Result>(
    _ scripts: [Script], identity: TestAuthority.Identity? = nil, body: (FrameServer) async throws -> Result
  ) async throws -> Result {
    let monitor = Monitor(State())
    let tls = try identity.map { try ServerContexts($0) }
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let number = monitor.update { state in
          state.received.append(Received())
          return state.received.count - 1
        }
        let script = number < scripts.count ? scripts[number] : Script.sane
        return channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler(script.protocols)) }
          let player = ScriptPlayer(script) { received in monitor.update { $0.received[number] = received } }
          try channel.pipeline.syncOperations.addHandler(player)
        }
      }
      .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
    guard let port = listener.localAddress?.port else { throw Unexpected() }
    do {
      let result = try await body(FrameServer(port: port, monitor: monitor))
      try await listener.close().get()
      return result
    } catch {
      try await listener.close().get()
      throw error
    }
  }

  /// Waits until an event has occurred on any connection.
  func wait(for event: Event) async throws {
    try await monitor.first { $0.received.contains { $0.has(event) } ? () : nil }
  }

  /// Records the end of a call.
  func callEnded(_ number: Int) {
    monitor.update { _ = $0.endedCalls.insert(number) }
  }

  /// Waits until the request of a call has arrived, or the call has ended without a request.
  func waitForRequest(_ number: Int) async throws {
    try await monitor.first { state in
      let count = state.received.reduce(0) { $0 + $1.requests.count }
      return count > number || state.endedCalls.contains(number) ? () : nil
    }
  }

  /// Waits until all connections are closed.
  func waitUntilClosed() async throws {
    try await monitor.first { $0.received.allSatisfy(\.isClosed) ? () : nil }
  }
}

/// The TLS handlers of one server identity.
private struct ServerContexts: Sendable {
  private let configuration: TLSConfiguration

  init(_ identity: TestAuthority.Identity) throws {
    configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)))
  }

  func handler(_ protocols: [String]) throws -> NIOSSLServerHandler {
    var configuration = configuration
    configuration.applicationProtocols = protocols
    return NIOSSLServerHandler(context: try NIOSSLContext(configuration: configuration))
  }
}
