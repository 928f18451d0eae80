import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A channel handler that collects requests, and reports when a client connects, when it disconnects, and when a
/// response was sent to it completely.
///
/// All events run on the connection's event loop, so they are in order: a client that disconnects right after its
/// response is never recorded as disconnected before the end of the response. The server allows half-closed
/// connections, so a closed socket is reported as `inputClosed` rather than as a closed channel. A client that closes
/// only its sending side is treated as disconnected; HTTP clients do not do that.
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// A request whose end was not received yet.
  private struct Incoming {
    let head: HTTPRequest
    let exchange: Exchange?
    let isLast: Bool
    /// The content so far; `nil` when it is too long.
    var content: Data? = Data()
  }

  private let connections: Connections
  private let log: ExchangeLog
  private let now: @Sendable () -> Date
  private let receive: (ReceivedRequest) -> Void
  private var connection: Connection?
  private var incoming: Incoming?
  /// The received requests, in order; the response to the first is in progress.
  private var pending: [ReceivedRequest] = []

  /// - Parameter receive: called with each request, after the response to the previous request was sent.
  init(
    _ connections: Connections, log: ExchangeLog, now: @escaping @Sendable () -> Date,
    receive: @escaping (ReceivedRequest) -> Void
  ) {
    (self.connections, self.log, self.now, self.receive) = (connections, log, now, receive)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection = connections.opened(context.channel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let connection else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard let request = HTTPRequest(head) else { return context.close(promise: nil) }
      let exchange = begin(request, on: connection)
      connection.began(exchange)
      incoming = Incoming(head: request, exchange: exchange, isLast: !head.isKeepAlive)
    case .body(let bytes):
      let count = (incoming?.content?.count ?? 0) + bytes.readableBytes
      if count > Request.contentLimit { incoming?.content = nil }
      incoming?.content?.append(contentsOf: bytes.readableBytesView)
    case .end:
      guard let whole = incoming else { return }
      incoming = nil
      let received = ReceivedRequest(
        request: Request(whole.head, content: whole.content), connection: connection, exchange: whole.exchange,
        isLast: whole.isLast)
      pending.append(received)
      if pending.count == 1 { receive(received) }
    }
  }

  /// Adds a request to the log. Returns `nil` for requests for the log itself, which are not logged.
  private func begin(_ head: HTTPRequest, on connection: Connection) -> Exchange? {
    if Request.parts(of: head).path == LogRoutes.path { return nil }
    return Exchange(head, connection: connection.number, time: now(), log: log)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The preceding handler has responded to malformed HTTP. If the connection ends in the middle of the content
    // instead, the client has disconnected.
    if let error = error as? HTTPParserError, error != .invalidEOFState, let incoming {
      incoming.exchange?.responding(status: 400, contentLength: 0)
      incoming.exchange?.ended()
    }
    context.close(promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      connection?.left()
      // With a pending response, the connection is closed after the last response.
      if pending.isEmpty { context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.closed(context.channel)
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data), !pending.isEmpty else {
      context.write(data, promise: promise)
      return
    }
    let exchange = pending.removeFirst().exchange
    connection?.responded()
    let promise = promise ?? context.eventLoop.makePromise()
    promise.futureResult.whenComplete { result in
      switch result {
      case .success: exchange?.ended()
      case .failure: exchange?.clientLeft()
      }
    }
    context.write(data, promise: promise)
    if let next = pending.first { receive(next) }
  }
}
