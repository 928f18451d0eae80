import ApusCore
import HTTPTypes
import NIOCore
import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The channel handler of one connection: writes requests and reads responses, one exchange after the other.
/// Everything happens on its event loop.
///
/// The handler encodes and decodes by itself, so that a small exchange costs one write, one read and no allocations for
/// message parts in a pipeline. This file handles the channel's events and the ends of exchanges and connections;
/// `ConnectionHandler+Request.swift` writes the request, `ConnectionHandler+Response.swift` reads the response.
final class ConnectionHandler: ChannelInboundHandler, ExchangeCarrier {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let owner: any ConnectionOwner
  /// The connection that other types use. The connection and this handler retain each other until the socket closes.
  var connection: Connection?
  var context: ChannelHandlerContext?
  /// The connection's socket, looked up once, because each lookup casts dynamically. Valid while the channel is active;
  /// `nil` for a channel without a socket.
  private(set) var socket: NIOBSDSocket.Handle?
  var state = ConnectionState<Exchange>()

  var outgoing = Outgoing()
  let reception: Reception
  /// Whether the first byte of the response was recorded in the trace.
  var isFirstByteRecorded = false
  /// Whether the owner was notified that content is streamed.
  var isStreaming = false
  var decoder: ResponseDecoder
  var watchdog: Watchdog?

  /// The bytes not decoded yet.
  var inbound = ByteBuffer()
  /// The buffer for writing, reused for one request after the other.
  var outbound = ByteBuffer()
  private var endedCleanly = true
  private var cause: (any Error)?

  /// The current exchange.
  var exchange: Exchange? { state.exchange }

  init(owner: any ConnectionOwner, framingLimits: FramingLimits, codingLimits: CodingLimits) {
    self.owner = owner
    reception = Reception(Reception.Source(version: .http1), codingLimits)
    decoder = ResponseDecoder(limits: framingLimits)
  }

  // MARK: Events of the channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    socket = context.pipeline.syncOperations.socket
    watchdog = Watchdog(loop: context.eventLoop) { [weak self] in self?.timedOut(in: $0) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // A channel that was never active does not report that it became inactive.
    socketClosed()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    switch state.bytesArrived() {
    case .decode:
      inbound.take(&bytes)
      decode()
    case .close: abort()
    case .ignore: break
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { resumeUpload() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case .uncleanShutdown = error as? NIOSSLError {
      endedCleanly = false
      return
    }
    cause = cause ?? error
    endedCleanly = false
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    socketClosed()
  }

  // MARK: Ending from outside

  /// Closes the connection if it is idle.
  func closeIfIdle() {
    if state.closeIfIdle() { context?.close(promise: nil) }
  }

  /// Closes the connection; an exchange on it fails.
  func terminate(_ error: TransportError) {
    guard exchange != nil else { return closeIfIdle() }
    fail(.connectionLost, error.detail)
  }

  /// Closes the connection immediately if the exchange is on it.
  func abandon(_ exchange: Exchange) {
    guard self.exchange === exchange else { return }
    state.broken()
    discardExchange()
    abort()
  }

  /// Ends the exchange, unless the head of its response has arrived.
  func endAttempt(of exchange: Exchange) {
    // The exchange may have moved to another connection meanwhile.
    guard self.exchange === exchange else { return exchange.deadlinePassed() }
    guard !state.progress.hasHead else { return }
    let phase: CallPhase = state.progress.request == .complete ? .awaitingHead : .connecting
    let error = TransportError.attemptTimedOut(in: phase, requestState: state.progress.requestState)
    fail(error.code, in: error.phase, error.detail)
  }

  // MARK: Ending

  /// Closes the socket without TLS's close notification, because that would wait for the peer's.
  func abort() {
    guard let context else { return }
    if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
      tls.close(promise: nil)
    } else {
      context.close(promise: nil)
    }
  }

  /// Discards the state of the exchange.
  func discardExchange() {
    outgoing.stop()
    outgoing = Outgoing()
    reception.reset()
    (isFirstByteRecorded, isStreaming) = (false, false)
    inbound = ByteBuffer()
    watchdog?.clear()
  }

  // MARK: Failing

  /// Fails the exchange and closes the connection.
  func fail(
    _ code: CallError.Code, in phase: CallPhase? = nil, _ detail: String, _ underlying: (any Error)? = nil
  ) {
    fail(
      TransportError(code, in: phase, requestState: state.progress.requestState, detail: detail, underlying: underlying)
    )
  }

  func fail(_ error: TransportError) {
    guard let exchange else { return }
    let content = reception.content
    state.broken()
    discardExchange()
    abort()
    content?.finish(throwing: error)
    exchange.fail(error)
  }

  /// Fails an exchange whose content was not sent completely although the server responded with success.
  ///
  /// - Parameter reason: the reason why no more content is sent; `nil` if the server never requested the content.
  func failIncomplete(_ reason: String?, _ source: TransportError.Source = .server) {
    guard let exchange else { return }
    let error = reception.incompleteRequest(sent: sentContent, of: exchange.request.content.length, reason)
    if let error { fail(error.attributed(to: source)) }
  }

  private func timedOut(in phase: CallPhase) {
    guard let exchange else { return }
    // Bytes that have left since the last measurement restart the timeout.
    if state.awaited == .progress, measureProgress() { return }
    let failure = exchange.timeouts.failure(in: phase)
    if state.progress.isIncomplete {
      // Without unsent bytes the content was not produced in time.
      let source = state.progress.unsent > 0 ? TransportError.Source.server : .content
      return failIncomplete(failure.incomplete, source)
    }
    fail(.timeout, in: phase, failure.detail)
  }

  /// Handles the close of the socket by either side.
  private func socketClosed() {
    guard let connection else { return }
    self.connection = nil
    context = nil
    // Reported before the exchange ends, so that its caller can already get another connection.
    owner.connectionClosed(connection)
    switch state.closed(isRepeatable: exchange?.isRepeatable ?? false) {
    case .end: watchdog?.stop()
    case .wait: break
    case .resend: if !resend() { endInput() }
    case .decodeRest: endInput()
    }
  }

  /// Decodes the bytes that arrived before the close.
  func endInput() {
    do {
      while exchange != nil, state.progress.response != .completeEarly,
        let part = try decoder.endOfInput(cleanly: endedCleanly)
      {
        handle(part)
      }
      if state.progress.isIncomplete { failIncomplete(TransportError.text(ofBreak: cause) ?? Self.closed) }
      if exchange != nil { fail(.connectionLost, Self.brokenOff(cause), cause) }
    } catch _ where state.progress.isIncomplete {
      failIncomplete(TransportError.text(ofBreak: cause) ?? Self.closed)
    } catch {
      // A server may reject the client's certificate only after the handshake.
      let isRefused = !state.progress.hasHead && (cause is BoringSSLError || cause is NIOSSLError)
      let detail = isRefused ? TransportError.text(ofBreak: cause) : cause.map { Self.brokenOff($0) }
      fail(isRefused ? .tls : .connectionLost, detail ?? error.detail, cause ?? error)
    }
    watchdog?.stop()
  }

  static let closed = "the connection closed"

  private static func brokenOff(_ cause: (any Error)?) -> String {
    let what = TransportError.text(ofBreak: cause) ?? closed
    return "\(what) before the response was complete"
  }

  /// Retries the exchange on a new connection. Returns `false` if it may not be retried.
  private func resend() -> Bool {
    guard let exchange, owner.resend(exchange, .stale(wasWritten: state.progress.request != .unsent)) else {
      return false
    }
    state.broken()
    discardExchange()
    watchdog?.stop()
    return true
  }
}
