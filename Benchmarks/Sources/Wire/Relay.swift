import NIOCore
import NIOPosix
import Uploading

/// A relay between a client and a server on loopback that passes on all bytes after a delay, without a limit on the
/// number of bytes on their way.
enum Relay {
  /// Serves until standard input closes. Prints the port first.
  ///
  /// - Parameter roundTrip: the delay of a byte in one direction and of the response to it together, in milliseconds.
  static func serve(to port: Int, roundTrip: Int) throws {
    let delay = TimeAmount.microseconds(Int64(roundTrip) * 500)
    let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
      .childChannelInitializer { client in
        ClientBootstrap(group: client.eventLoop).connect(host: "127.0.0.1", port: port).flatMapThrowing { server in
          try client.pipeline.syncOperations.addHandler(DelayingHandler(to: server, delay: delay))
          try server.pipeline.syncOperations.addHandler(DelayingHandler(to: client, delay: delay))
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .bind(host: "127.0.0.1", port: 0).wait()
    guard let port = listener.localAddress?.port else { throw Unexpected() }
    try ServerProcess.announce(port)
  }
}

/// A handler that writes all bytes to another channel of the same event loop after a delay.
private final class DelayingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let delay: TimeAmount

  init(to other: any Channel, delay: TimeAmount) {
    (self.other, self.delay) = (other, delay)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    context.eventLoop.scheduleTask(in: delay) { [other] in other.writeAndFlush(bytes, promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.eventLoop.scheduleTask(in: delay) { [other] in other.close(promise: nil) }
  }
}
