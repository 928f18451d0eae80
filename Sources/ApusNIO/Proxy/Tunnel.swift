import ApusCore
import HTTPTypes
import NIOCore

/// A tunnel through a proxy, which forwards bytes to an origin unchanged (RFC 9110 §9.3.6).
enum Tunnel {
  /// Requests a tunnel on the channel's loop. The future fails with the reason; the channel then stays open.
  static func open(
    to origin: Origin, through proxy: ProxyServer, on channel: any Channel, limits: FramingLimits
  ) -> EventLoopFuture<Void> {
    let done = channel.eventLoop.makePromise(of: Void.self)
    do {
      let handler = TunnelHandler(done: done, proxy: proxy, limits: limits)
      var request = ByteBuffer()
      let authority = "\(origin.host):\(origin.port)"
      let encoder = RequestEncoder(form: .authority, adding: proxy.fields)
      try encoder.encodeHead(
        HTTPRequest(method: .connect, scheme: nil, authority: authority, path: nil), into: &request)
      try channel.pipeline.syncOperations.addHandler(handler)
      channel.writeAndFlush(request, promise: nil)
    } catch {
      done.fail(error)
    }
    return done.futureResult
  }
}

/// A handler that waits for the proxy's response, then leaves the pipeline.
private final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private var done: EventLoopPromise<Void>?
  private let proxy: ProxyServer
  private var decoder: ResponseDecoder
  private var inbound = ByteBuffer()

  init(done: EventLoopPromise<Void>, proxy: ProxyServer, limits: FramingLimits) {
    self.done = done
    self.proxy = proxy
    decoder = ResponseDecoder(limits: limits)
    decoder.expectResponse(to: .connect)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    inbound.take(&bytes)
    do {
      while done != nil, let part = try decoder.next(from: &inbound) {
        guard case .head(let head, _) = part else { continue }
        finish(verdict(on: head), context)
      }
    } catch {
      finish(.failure(refusal("sent a malformed response to CONNECT", error)), context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(.failure(error), context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(.failure(refusal("closed the connection in response to CONNECT")), context)
    context.fireChannelInactive()
  }

  private func verdict(on head: HTTPResponse) -> Result<Void, any Error> {
    switch head.status.code {
    case 200..<300 where inbound.readableBytes == 0: .success(())
    case 200..<300: .failure(refusal("sent bytes through the tunnel before it had received any"))
    case 407 where proxy.authorization == nil: .failure(refusal("requires credentials (CONNECT: status 407)"))
    case 407: .failure(refusal("rejected the credentials (CONNECT: status 407)"))
    default: .failure(refusal("refused the tunnel (CONNECT: status \(head.status.code))"))
    }
  }

  private func refusal(_ detail: String, _ underlying: (any Error)? = nil) -> TransportError {
    TransportError(
      .connectionFailed, requestState: .notSent, detail: "the proxy \(proxy) \(detail)", underlying: underlying)
  }

  private func finish(_ result: Result<Void, any Error>, _ context: ChannelHandlerContext) {
    guard let done else { return }
    self.done = nil
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
    done.completeWith(result)
  }
}
