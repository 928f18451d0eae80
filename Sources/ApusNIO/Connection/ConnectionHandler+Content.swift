#if NIO
  import ApusCore
  import NIOCore

  /// Content that is sent in pieces.
  extension ConnectionHandler {
    /// Sends a piece; `waiter` is told when there is room for the next.
    func send(_ piece: ContentPiece, of exchange: Exchange, _ waiter: CheckedContinuation<Bool, Never>) {
      guard self.exchange === exchange, let context else {
        return waiter.resume(returning: false)
      }
      outbound.clear()
      if exchange.request.encoder.framing == .chunked {
        RequestEncoder.beginChunk(piece.count, into: &outbound)
        piece.write(to: &outbound)
        RequestEncoder.endChunk(into: &outbound)
      } else {
        piece.write(to: &outbound)
      }
      let wasEmpty = state.unsent == 0
      state.wrote(outbound.readableBytes)
      outgoing.written += Int64(piece.count)
      write()
      guard self.exchange === exchange else { return waiter.resume(returning: false) }
      // A piece that waits behind others does not begin their time anew.
      if wasEmpty { expect() }
      lookLater()
      guard !context.channel.isWritable else { return waiter.resume(returning: true) }
      outgoing.sender = waiter
    }

    /// The socket has taken enough of what was written.
    func makeRoom() {
      guard let sender = outgoing.sender else { return }
      outgoing.sender = nil
      look()
      sender.resume(returning: true)
    }

    func finishContent(of exchange: Exchange) {
      guard self.exchange === exchange, let context else { return }
      outgoing.upload = nil
      outbound.clear()
      if exchange.request.encoder.framing == .chunked { RequestEncoder.endChunks(into: &outbound) }
      let sent = context.eventLoop.makePromise(of: Void.self)
      state.wrote(outbound.readableBytes)
      // Written even where it is empty: it is done when the socket has taken everything before it.
      context.writeAndFlush(wrapOutboundOut(outbound), promise: sent)
      lookLater()
      sent.futureResult.assumeIsolated().whenSuccess {
        guard self.exchange === exchange else { return }
        self.look()
        self.requestSent()
      }
    }

    /// The content could not be produced: ends the exchange, so that the server does not take what it has for complete.
    func failContent(of exchange: Exchange, _ error: any Error) {
      guard self.exchange === exchange else { return }
      let detail =
        switch error {
        case is Upload.LengthMismatch: "the content has another length than was announced"
        case is FileUnreadable: "the file to send cannot be read"
        default: "the content to send could not be made"
        }
      fail(
        TransportError(.broken, requestState: state.requestState, detail: detail, underlying: error).about(.content))
    }

    // MARK: What has left

    /// Looks how much of the request has left, and reports it: the socket takes much more than the server has taken.
    ///
    /// - Returns: whether some has left since the last look.
    @discardableResult
    func look() -> Bool {
      guard let exchange, let context, state.request != .unsent else { return false }
      let hasMoved = state.looked(unsent: state.unsent > 0 ? context.channel.unsentBytes : 0)
      // Framing and TLS count as content while they wait to leave: what is reported is never too much.
      report(outgoing.written - Int64(state.unsent), of: exchange)
      if hasMoved { expect() }
      return hasMoved
    }

    /// All of the content has left, as far as the server's answer shows.
    func reportAll() {
      guard let exchange, state.request == .complete else { return }
      report(outgoing.written, of: exchange)
    }

    private func report(_ total: Int64, of exchange: Exchange) {
      guard total > outgoing.reported else { return }
      outgoing.reported = total
      exchange.context.sent(total: total, expected: exchange.request.content.length)
    }

    /// Looks after a while, and again for as long as bytes wait to leave.
    private func lookLater() {
      guard outgoing.look == nil, let exchange, let context else { return }
      let interval = min(
        Self.longestLook, exchange.timeouts.stall.map { TimeAmount.nanoseconds($0.nanoseconds / 4) } ?? .hours(1))
      outgoing.look = context.eventLoop.assumeIsolated().scheduleTask(in: max(interval, .milliseconds(1))) {
        guard self.exchange === exchange else { return }
        self.outgoing.look = nil
        self.look()
        if self.state.unsent > 0 { self.lookLater() }
      }
    }

    /// Callers who judge a rate by what is reported are told at least this often.
    private static let longestLook = TimeAmount.seconds(1)
  }
#endif
