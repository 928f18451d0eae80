import NIOCore
import NIOHTTPTypes

/// Tells when a client comes and goes, and when it has the whole of an answer.
///
/// All three are seen on the connection's event loop, so their order is the true one: a client that closes as soon as
/// it has the answer is never taken for one that left before. The server allows half-closed connections, so a closed
/// socket shows as `inputClosed` and not as a closed channel. A client that closes its sending side only is taken for
/// gone, too; no HTTP client does that.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

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

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data), let exchange = connections[context.channel]?.nextAnswered() else {
      context.write(data, promise: promise)
      return
    }
    let promise = promise ?? context.eventLoop.makePromise()
    promise.futureResult.whenComplete { result in
      switch result {
      case .success: exchange.ended()
      case .failure: exchange.clientLeft()
      }
    }
    context.write(data, promise: promise)
  }
}
