#if NIO
  import ApusCore
  import HTTPTypes
  import NIOCore

  extension ConnectionHandler {
    /// Begins an exchange.
    func start(_ exchange: Exchange) {
      switch state.offered(isOpen: context?.channel.isActive == true, hasUnread: { isStale }) {
      case .enter: break
      case .giveBack: return giveBack(exchange)
      case .giveBackAndClose:
        abort()
        return giveBack(exchange)
      }
      guard let connection else { return giveBack(exchange) }
      guard exchange.enter(connection) else { return core.release(connection) }
      state.entered(exchange)
      recordConnection(connection, exchange)
      // Whoever ended it before it was told of its connection was told that nothing was sent.
      guard self.exchange === exchange, exchange.isOn(connection) else { return }
      let request = exchange.request
      outbound.clear()
      do {
        try request.encoder.encodeHead(request.head, into: &outbound)
      } catch {
        return refuse(exchange, error)
      }
      decoder.expectResponse(to: request.head.method)
      state.requestBegun()
      if let upload = request.content.upload(of: exchange, on: connection) {
        write()
        if self.exchange === exchange { outgoing.upload = exchange.context.spawn { await upload.run() } }
      } else {
        sendAtOnce(request.content, of: exchange)
      }
    }

    /// The connection was closed before anything was written to it.
    private func giveBack(_ exchange: Exchange) {
      if exchange.retry(wasWritten: false) { return }
      exchange.fail(
        TransportError(.broken, requestState: .notSent, detail: "the connection was closed before it was used again"))
    }

    /// Whether something has arrived that nobody has read yet: the end of the connection, or bytes that nobody asked
    /// for. Found out before anything is written, so that nothing is lost.
    ///
    /// Below TLS these may be bytes of its own, a farewell for one: then a connection is lost that might have served, and
    /// where nothing may go out once more, the exchange. Bytes of which TLS has read a part already are not seen here.
    private var isStale: Bool { context?.pipeline.syncOperations.hasUnread ?? true }

    /// Tells how the exchange came by its connection.
    private func recordConnection(_ connection: Connection, _ exchange: Exchange) {
      let waited = exchange.waitingTime
      if state.hasServed {
        if let waited { exchange.context.record(.phase(.queued, waited)) }
      } else {
        let timings = connection.timings
        if let waited, waited > timings.total { exchange.context.record(.phase(.queued, waited - timings.total)) }
        if let time = timings.lookup { exchange.context.record(.phase(.nameLookup, time)) }
        exchange.context.record(.phase(.connecting, timings.connect))
        if let time = timings.handshake { exchange.context.record(.phase(.securing, time)) }
      }
      exchange.context.record(.connected(reused: state.hasServed))
    }

    /// Head and content in one write.
    private func sendAtOnce(_ content: MessageContent, of exchange: Exchange) {
      if case .bytes(let data) = content { outbound.writeBytes(data) }
      write()
      guard self.exchange === exchange else { return }
      if let length = content.length, length > 0 { exchange.context.sent(total: length, expected: length) }
      requestSent()
    }

    /// A message that cannot be encoded: the connection is as good as before.
    private func refuse(_ exchange: Exchange, _ error: FramingError) {
      state.requestRefused()
      clear()
      // It goes back before the caller goes on, who may need it.
      if let connection { core.release(connection) }
      exchange.fail(
        TransportError(.unsupported, requestState: .notSent, detail: error.detail, underlying: error))
    }

    func requestSent() {
      guard let exchange else { return }
      state.requestCompleted()
      exchange.context.record(.requestSent)
      expect()
    }

    func write() {
      context?.writeAndFlush(wrapOutboundOut(outbound), promise: nil)
      if outbound.capacity > Self.keptCapacity { outbound = ByteBuffer() }
    }

    /// What a connection keeps to write its next request into.
    private static let keptCapacity = 16 << 10
  }
#endif
