import NIOCore
import NIOPosix
import Synchronization

/// A proxy that responds to CONNECT and then forwards bytes to one port, whichever host was requested.
final class TunnelServer: Sendable {
  let port: Int
  private let listener: any Channel
  private let heads: Heads

  final class Heads: Sendable {
    private let all = Mutex<[String]>([])
    var seen: [String] { all.withLock { $0 } }
    func add(_ head: String) { all.withLock { $0.append(head) } }
  }

  /// The request heads that the proxy has received.
  var requests: [String] { heads.seen }

  /// The response to CONNECT of a proxy that opens the tunnel.
  fileprivate static let established = "HTTP/1.1 200 Connected\r\n\r\n"

  /// - Parameter answer: the response to CONNECT; `nil` opens the tunnel, and bytes are then forwarded.
  static func with<Result>(
    to target: Int, answer: String? = nil, body: (TunnelServer) async throws -> Result
  ) async throws -> Result {
    let heads = Heads()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(TunnelEnd(target: target, answer: answer, heads: heads))
        }
      }
      .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
    guard let port = listener.localAddress?.port else { throw Unexpected() }
    do {
      let result = try await body(TunnelServer(port: port, listener: listener, heads: heads))
      try await listener.close().get()
      return result
    } catch {
      try await listener.close().get()
      throw error
    }
  }

  private init(port: Int, listener: any Channel, heads: Heads) {
    (self.port, self.listener, self.heads) = (port, listener, heads)
  }
}

/// The client's end of a tunnel.
private final class TunnelEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let target: Int
  private let answer: String?
  private let heads: TunnelServer.Heads
  private var head = ""
  private var isAsked = false
  private var peer: (any Channel)?
  private var waiting = ByteBuffer()

  init(target: Int, answer: String?, heads: TunnelServer.Heads) {
    (self.target, self.answer, self.heads) = (target, answer, heads)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if let peer { return peer.writeAndFlush(bytes, promise: nil) }
    if isAsked {
      _ = waiting.writeBuffer(&bytes)
      return
    }
    head += String(buffer: bytes)
    guard head.hasSuffix("\r\n\r\n") else { return }
    isAsked = true
    heads.add(head)
    if let answer { return reply(answer, context.channel) }
    let channel = context.channel
    ClientBootstrap(group: context.eventLoop)
      .channelInitializer { far in
        far.eventLoop.makeCompletedFuture { try far.pipeline.syncOperations.addHandler(FarEnd(near: channel)) }
      }
      .connect(host: "127.0.0.1", port: target)
      .assumeIsolated().whenSuccess { far in
        self.peer = far
        far.writeAndFlush(self.waiting, promise: nil)
        self.reply(TunnelServer.established, channel)
      }
  }

  func channelInactive(context: ChannelHandlerContext) {
    peer?.close(promise: nil)
  }

  private func reply(_ answer: String, _ channel: any Channel) {
    if answer.isEmpty { return channel.close(promise: nil) }
    channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
  }
}

/// The server's end of a tunnel.
private final class FarEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let near: any Channel

  init(near: any Channel) {
    self.near = near
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    near.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    near.close(promise: nil)
  }
}
