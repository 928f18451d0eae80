import ApusCore
import HTTPTypes
import NIOCore
import NIOSSL

extension MultiplexHandler {
  // MARK: Ends of streams

  /// Removes a stream that both sides have closed, or that the server has reset or will not process. The connection is
  /// free for another exchange.
  func leave(_ stream: MultiplexStream) {
    guard !stream.isGone else { return }
    if !stream.isClosed { state.ended() }
    remove(stream)
  }

  /// Removes a stream that the client resets.
  func leave(_ stream: MultiplexStream, resetting code: HTTP2ErrorCode) {
    guard !stream.isGone else { return }
    let isEnded = stream.state.isResponseOver && stream.state.progress.request == .complete
    guard !stream.isClosed, !isEnded, !state.isOver else { return leave(stream) }
    writer.writeReset(stream.id, code)
    if let ping = state.reset(stream.id, now: now) { writer.writePing(ping, isAcknowledgement: false) }
    if let deadline = state.deadline { wake(by: deadline) }
    flushSoon()
    if let connection { owner.capacityChanged(of: connection, to: state.capacity) }
    remove(stream)
  }

  private func remove(_ stream: MultiplexStream) {
    streams[stream.id] = nil
    (stream.isGone, stream.isClosed, stream.deadline) = (true, true, nil)
    stream.outgoing.stop()
    stream.pending = ByteBuffer()
    credit(stream.unread.readableBytes)
    stream.unread = ByteBuffer()
    updateSuspension()
    becameFree()
    if !waiting.isEmpty { beginWaiting() }
    closeIfDrained()
  }

  /// Closes the stream at the server's side while its reader still consumes what has arrived.
  func close(_ stream: MultiplexStream, _ end: MultiplexStream.End) {
    if !stream.isClosed { state.ended() }
    stream.isClosed = true
    stream.end = end
    stream.deadline = nil
    if case .failed = end { stream.outgoing.stop() }
  }

  /// The streams in the order in which they were opened, for changes that may remove streams.
  func sortedStreams() -> [MultiplexStream] {
    streams.values.sorted { $0.id < $1.id }
  }

  // MARK: Ends of the connection

  func closeIfIdle() {
    guard streams.isEmpty, waiting.isEmpty, !state.isOver else { return }
    end(.noError)
    context?.close(promise: nil)
  }

  func closeIfDrained() {
    if state.isDraining { closeIfIdle() }
  }

  /// Sends GOAWAY.
  private func end(_ code: HTTP2ErrorCode, debug: String = "") {
    guard state.end() else { return }
    updateSuspension()
    writer.writeGoAway(code, debug: debug)
    flush()
  }

  /// Closes the socket without TLS's close notification, because that would wait for the peer's.
  func abort() {
    guard let context else { return }
    if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
      tls.close(promise: nil)
    } else {
      context.close(promise: nil)
    }
  }

  func violated(_ violation: FrameViolation) {
    end(violation.code, debug: violation.description)
    // The exchanges fail before the socket is closed, because the close would be a failure of its own.
    for stream in sortedStreams() where !stream.isClosed {
      lose(stream, .malformedResponse, violation.description, violation)
    }
    returnWaiting()
    abort()
  }

  func terminate(_ error: TransportError) {
    guard !streams.isEmpty || !waiting.isEmpty else { return closeIfIdle() }
    end(.noError)
    for stream in sortedStreams() {
      fail(stream, TransportError(.connectionLost, requestState: stream.requestState, detail: error.detail))
    }
    let exchanges = waiting
    waiting = []
    for exchange in exchanges { exchange.fail(error) }
    abort()
  }

  /// Handles the close of the socket by either side.
  func socketClosed() {
    guard let connection else { return }
    self.connection = nil
    context = nil
    let wasOver = !state.end()
    alarm?.task.cancel()
    measurement?.cancel()
    // Reported before the exchanges end, so that their callers can already get another connection.
    owner.connectionClosed(connection)
    for stream in sortedStreams() where !stream.isClosed { lost(stream, mayResend: !wasOver) }
    returnWaiting()
  }

  /// Handles the loss of the connection for one exchange.
  private func lost(_ stream: MultiplexStream, mayResend: Bool) {
    guard stream.isFlushed else {
      leave(stream)
      return sendAgain(stream, .unprocessed, closedText)
    }
    if mayResend, state.hasServed, stream.state.progress.response == .nothing, stream.exchange.isRepeatable,
      owner.resend(stream.exchange, .stale(wasWritten: true))
    {
      return leave(stream)
    }
    if stream.state.progress.isIncomplete { return failIncomplete(stream, closedText) }
    lose(stream, .connectionLost, "\(closedText) before the response was complete", cause)
  }

  private var closedText: String {
    let closed = TransportError.text(ofBreak: cause) ?? "the connection closed"
    return goAway.map { "\(closed) after \($0)" } ?? closed
  }

  /// Fails an exchange for which no more frames arrive, after its reader has consumed what has arrived.
  func lose(_ stream: MultiplexStream, _ code: CallError.Code, _ detail: String, _ underlying: (any Error)? = nil) {
    let error = TransportError(code, requestState: stream.requestState, detail: detail, underlying: underlying)
    guard stream.state.progress.isPaused else { return fail(stream, error) }
    close(stream, stream.end ?? .failed(error))
  }

  /// Returns the exchanges that wait for a stream to the owner: nothing of them was written.
  func returnWaiting() {
    guard !waiting.isEmpty else { return }
    let exchanges = waiting
    waiting = []
    for exchange in exchanges {
      becameFree()
      owner.take(back: exchange, .unprocessed)
    }
  }
}
