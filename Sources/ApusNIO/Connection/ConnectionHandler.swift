#if NIO
  import ApusCore
  import HTTPTypes
  import NIOCore
  import NIOSSL

  /// One connection: writes requests, reads answers, one exchange after the other. Everything happens on its loop.
  ///
  /// It encodes and decodes by itself, so that a small exchange costs one write, one read and no allocation for parts
  /// on their way through a pipeline.
  final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let core: TransportCore
    /// What others know it by. It holds this handler in turn, until the connection is closed.
    var connection: Connection?
    var context: ChannelHandlerContext?
    var state = ConnectionState<Exchange>()

    // What belongs to the exchange that runs.
    var outgoing = Outgoing()
    var incoming = Incoming()
    var decoder: ResponseDecoder
    var watchdog: Watchdog?

    /// Bytes that are not decoded yet.
    var inbound = ByteBuffer()
    /// Used for one request after the other.
    var outbound = ByteBuffer()
    private var endedCleanly = true
    private var cause: (any Error)?

    /// The exchange that runs.
    var exchange: Exchange? { state.exchange }

    init(core: TransportCore) {
      self.core = core
      decoder = ResponseDecoder(limits: core.framingLimits)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      self.context = context
      watchdog = Watchdog(loop: context.eventLoop) { [weak self] in self?.timedOut(in: $0) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      // Also where the channel was never active.
      closed()
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
      if context.channel.isWritable { makeRoom() }
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
      closed()
    }

    // MARK: From others

    /// Closes it unless it is in use.
    func closeIdle() {
      if state.closedUnused() { context?.close(promise: nil) }
    }

    /// Closes it whatever runs.
    func end(_ error: TransportError) {
      guard exchange != nil else { return closeIdle() }
      fail(.broken, error.detail)
    }

    /// Closes it at once if the exchange is on it.
    func abandon(_ exchange: Exchange) {
      guard self.exchange === exchange else { return }
      state.broken()
      clear()
      abort()
    }

    /// Ends the exchange, unless the head of its answer is there.
    func endAttempt(of exchange: Exchange) {
      // It may have gone to another connection meanwhile.
      guard self.exchange === exchange else { return exchange.deadlinePassed() }
      guard state.response != .head else { return }
      let phase: CallPhase = state.request == .complete ? .awaitingHead : .connecting
      let error = TransportError.attemptTimedOut(in: phase, requestState: state.requestState)
      fail(error.kind, error.detail)
    }

    // MARK: Ending

    /// Closes the socket without any farewell: TLS would wait for the peer's.
    func abort() {
      guard let context else { return }
      if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
        tls.close(promise: nil)
      } else {
        context.close(promise: nil)
      }
    }

    /// Forgets what the exchange left behind.
    func clear() {
      outgoing.stop()
      outgoing = Outgoing()
      incoming = Incoming()
      inbound = ByteBuffer()
      watchdog?.clear()
    }

    private func timedOut(in phase: CallPhase) {
      guard let exchange else { return }
      // Bytes may have left since the last look, which begins the time anew.
      if state.owed == .room, look() { return }
      let isHead = phase == .awaitingHead
      let limit =
        (isHead ? exchange.timeouts.firstByte : exchange.timeouts.stall).map { "\(Duration($0))" } ?? "too long"
      fail(
        .timedOut(phase),
        isHead
          ? "no head of an answer came for \(limit), the limit of firstByte"
          : "no byte moved in either direction for \(limit), the limit of stall")
    }

    /// The socket is closed, by whomever.
    private func closed() {
      guard let connection else { return }
      self.connection = nil
      context = nil
      // Before the exchange ends, so that there is room for another connection.
      core.forget(connection)
      switch state.closed(isRepeatable: exchange?.isRepeatable ?? false) {
      case .end: watchdog?.stop()
      case .wait: break
      case .resend: if !resends() { inputEnded() }
      case .judge: inputEnded()
      }
    }

    /// Nothing more comes in.
    func inputEnded() {
      do {
        while exchange != nil, let part = try decoder.endOfInput(cleanly: endedCleanly) { take(part) }
        if exchange != nil { fail(.broken, Self.brokenOff(cause), cause) }
      } catch {
        // A server may refuse the client's certificate only after the handshake.
        let isRefused = state.response != .head && (cause is BoringSSLError || cause is NIOSSLError)
        let detail = isRefused ? TransportError.text(ofBreak: cause) : cause.map { Self.brokenOff($0) }
        fail(isRefused ? .tls : .broken, detail ?? error.detail, cause ?? error)
      }
      watchdog?.stop()
    }

    private static func brokenOff(_ cause: (any Error)?) -> String {
      let what = TransportError.text(ofBreak: cause) ?? "the connection closed"
      return "\(what) before the answer was complete"
    }

    /// Whether the exchange goes out once more.
    private func resends() -> Bool {
      guard let exchange, exchange.retry(wasWritten: state.request != .unsent) else { return false }
      state.broken()
      clear()
      watchdog?.stop()
      return true
    }

    /// Ends the exchange and closes the connection.
    func fail(_ kind: TransportError.Kind, _ detail: String, _ underlying: (any Error)? = nil) {
      fail(TransportError(kind, requestState: state.requestState, detail: detail, underlying: underlying))
    }

    func fail(_ error: TransportError) {
      guard let exchange else { return }
      let content = incoming.content
      state.broken()
      clear()
      abort()
      content?.finish(throwing: error)
      exchange.fail(error)
    }
  }
#endif
