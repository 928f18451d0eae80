import NIOCore

/// Tells ``Connections`` when a client comes and goes.
///
/// The server allows half-closed connections, so a client that closes its socket is seen as `inputClosed` and not as a
/// closed channel. A client that only closes its sending side is taken for gone, too; no HTTP client does that.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let connections: Connections

  init(_ connections: Connections) {
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connections.opened(context.channel)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      connections[context.channel]?.left()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.closed(context.channel)
    context.fireChannelInactive()
  }
}
