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

    enum Stage {
      case idle
      case exchanging
      /// Closed, or about to be: nothing that comes in matters.
      case over
    }

    let core: TransportCore
    /// What others know it by. It holds this handler in turn, until the connection is closed.
    var connection: Connection?
    var context: ChannelHandlerContext?
    var stage = Stage.idle

    // The exchange that runs.
    var exchange: Exchange?
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
      switch stage {
      case .exchanging:
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        incoming.hasBytes = true
        decode()
      case .idle:
        // Nobody asked for these, and nobody shall take them for an answer.
        abort()
      case .over: break
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
      guard stage == .idle else { return }
      stage = .over
      context?.close(promise: nil)
    }

    /// Closes it whatever runs.
    func end(_ error: TransportError) {
      guard exchange != nil else { return closeIdle() }
      fail(.broken, error.detail)
    }

    /// Closes it at once if the exchange is on it.
    func abandon(_ exchange: Exchange) {
      guard self.exchange === exchange else { return }
      clear()
      abort()
    }

    // MARK: Ending

    /// Closes the socket without any farewell: TLS would wait for the peer's.
    func abort() {
      stage = .over
      guard let context else { return }
      if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
        tls.close(promise: nil)
      } else {
        context.close(promise: nil)
      }
    }

    /// Forgets the exchange and what it left behind.
    func clear() {
      exchange = nil
      outgoing.stop()
      outgoing = Outgoing()
      incoming = Incoming()
      inbound = ByteBuffer()
      watchdog?.clear()
    }

    private func timedOut(in phase: CallPhase) {
      guard stage == .exchanging else { return }
      fail(.timedOut(phase), "no byte came or went for too long")
    }

    /// The socket is closed, by whomever.
    private func closed() {
      guard let connection else { return }
      self.connection = nil
      context = nil
      // Before the exchange ends, so that there is room for another connection.
      core.forget(connection)
      guard stage == .exchanging else { return end() }
      // What has arrived is taken first, whenever that is.
      if incoming.isPaused { incoming.isCutShort = true } else if !retries(connection) { inputEnded() }
    }

    /// Nothing more comes in.
    func inputEnded() {
      do {
        while stage == .exchanging, let part = try decoder.endOfInput(cleanly: endedCleanly) { take(part) }
        if stage == .exchanging { fail(.broken, "the connection closed before the answer was complete", cause) }
      } catch {
        // A server may refuse the client's certificate only after the handshake.
        let isRefused = incoming.head == nil && (cause is BoringSSLError || cause is NIOSSLError)
        fail(isRefused ? .tls : .broken, error.detail, cause ?? error)
      }
      end()
    }

    private func end() {
      stage = .over
      watchdog?.stop()
    }

    /// Whether the exchange goes out once more: its connection had been used before, and was closed before any byte of
    /// the answer.
    private func retries(_ connection: Connection) -> Bool {
      guard connection.hasServed, !incoming.hasBytes, let exchange, exchange.request.isRepeatable,
        exchange.retry(wasWritten: true)
      else { return false }
      clear()
      end()
      return true
    }

    /// Ends the exchange and closes the connection.
    func fail(_ kind: TransportError.Kind, _ detail: String, _ underlying: (any Error)? = nil) {
      guard let exchange else { return }
      let state: RequestState = incoming.head != nil ? .answered : outgoing.hasBegun ? .maybeSent : .notSent
      let error = TransportError(kind, requestState: state, detail: detail, underlying: underlying)
      let content = incoming.content
      clear()
      abort()
      content?.finish(throwing: error)
      exchange.finish(.failure(error))
    }
  }
#endif
