import ApusCore
import HTTPTypes
import NIOCore
import Synchronization

/// The request side of a connection.
struct Outgoing {
  /// The task that produces the content.
  var upload: Task<Void, Never>?
  /// The content withheld until the server sends 100 (Continue), and the timer that ends this wait.
  var expected: (upload: Upload, limit: Scheduled<Void>)?
  /// The upload that waits for buffer space; resumed with `false` if no more content is needed.
  var sender: RoomWaiter?
  /// The next measurement of unsent bytes, scheduled while there are any.
  var measurement: Scheduled<Void>?
  /// The number of content bytes written to the socket, and the number reported as sent.
  var written: Int64 = 0
  var reported: Int64 = 0

  /// Whether nothing of the content was taken.
  var isUntouched: Bool { upload == nil && written == 0 }

  /// Stops the upload.
  mutating func stop() {
    upload?.cancel()
    expected?.limit.cancel()
    expected = nil
    measurement?.cancel()
    sender?.resume(hasRoom: false)
    sender = nil
  }
}

/// An upload that waits for buffer space; resumed exactly once. If an event loop that has shut down releases the
/// waiter, the upload is resumed with `false`.
final class RoomWaiter: Sendable {
  private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

  init(_ continuation: CheckedContinuation<Bool, Never>) {
    self.continuation = Mutex(continuation)
  }

  deinit { resume(hasRoom: false) }

  func resume(hasRoom: Bool) {
    continuation.withLock { $0.take() }?.resume(returning: hasRoom)
  }
}

extension ConnectionHandler {
  // MARK: Beginning

  /// Begins an exchange: writes the head, and starts to send the content.
  func beginExchange(_ exchange: Exchange) {
    switch state.offered(isOpen: context?.channel.isActive == true, hasUnread: { isStale }) {
    case .enter: break
    case .giveBack: return owner.take(back: exchange, .stale(wasWritten: false))
    case .giveBackAndClose:
      abort()
      return owner.take(back: exchange, .stale(wasWritten: false))
    }
    guard let connection else { return owner.take(back: exchange, .stale(wasWritten: false)) }
    guard exchange.enter(connection) else { return owner.connectionBecameFree(connection, isSuspended: false) }
    state.entered(exchange)
    exchange.recordConnection(connection, isReused: state.hasServed, ConnectionInfo(.http1))
    // If the caller ended the exchange before the connection was recorded, its error already states that nothing was
    // sent.
    guard self.exchange === exchange, exchange.place == .on(connection) else { return }
    let request = exchange.request
    outbound.clear()
    do {
      try request.encoder.encodeHead(request.head, into: &outbound)
    } catch {
      return rejectRequest(of: exchange, error)
    }
    decoder.expectResponse(to: request.head.method)
    state.progress.requestBegun()
    if let upload = request.content.upload(of: exchange, on: connection) {
      flushOutbound()
      guard self.exchange === exchange else { return }
      if request.expectsContinue { awaitContinue(upload) } else { start(upload) }
    } else {
      sendAtOnce(request.content, of: exchange)
    }
  }

  private func start(_ upload: Upload) {
    outgoing.upload = upload.start(on: context.flatMap { owner.executor(on: $0.eventLoop) })
  }

  /// Waits for 100 (Continue), up to ``Upload/continueLimit``.
  private func awaitContinue(_ upload: Upload) {
    guard let context else { return }
    let limit = context.eventLoop.assumeIsolated().scheduleTask(in: Upload.continueLimit) { self.sendExpectedContent() }
    outgoing.expected = (upload, limit)
  }

  /// Sends the content withheld for 100 (Continue), if there is any.
  func sendExpectedContent() {
    guard let (upload, limit) = outgoing.expected else { return }
    outgoing.expected = nil
    limit.cancel()
    if exchange === upload.exchange { start(upload) }
  }

  /// Whether unread input has arrived: the end of the connection, or unsolicited bytes. Checked before anything is
  /// written, so that nothing is lost.
  ///
  /// Under TLS the input may be TLS's own bytes, such as a close notification. A usable connection may then be
  /// discarded, and an exchange that may not be retried fails with it. Bytes that TLS has partly read are not
  /// detected.
  private var isStale: Bool { context == nil || socket.map(hasUnread) ?? false }

  /// Sends head and content in one write.
  private func sendAtOnce(_ content: MessageContent, of exchange: Exchange) {
    if case .bytes(let data) = content { outbound.writeBytes(data) }
    flushOutbound()
    guard self.exchange === exchange else { return }
    if let length = content.length, length > 0 { exchange.context.reportSent(total: length, expected: length) }
    completeRequest()
  }

  /// Fails an exchange whose request cannot be encoded. The connection stays usable.
  private func rejectRequest(of exchange: Exchange, _ error: FramingError) {
    state.requestRefused()
    discardExchange()
    // The connection is returned before the caller is resumed, because the caller may need it.
    if let connection { owner.connectionBecameFree(connection, isSuspended: false) }
    exchange.fail(
      TransportError(.invalidRequest, requestState: .notSent, detail: error.detail, underlying: error))
  }

  private func completeRequest() {
    guard let exchange else { return }
    state.progress.requestCompleted()
    exchange.context.record(.requestSent)
    guard state.progress.response == .completeEarly else { return restartTimeout() }
    reportAllSent()
    end(exchange, state.exchangeCompleted())
  }

  private func flushOutbound() {
    context?.writeAndFlush(wrapOutboundOut(outbound), promise: nil)
    if outbound.capacity > Self.keptCapacity { outbound = ByteBuffer() }
  }

  /// The maximum buffer capacity that a connection retains for its next request.
  private static let keptCapacity = 16 << 10

  // MARK: Content in pieces

  /// Writes a piece; `waiter` is resumed when there is buffer space for the next.
  func writePiece(_ piece: ContentPiece, of exchange: Exchange, _ waiter: RoomWaiter) {
    guard self.exchange === exchange, state.progress.isSending, let context else {
      return waiter.resume(hasRoom: false)
    }
    let wasEmpty = state.progress.unsent == 0
    outgoing.written += Int64(piece.count)
    if case .buffer(let buffer) = piece, exchange.request.encoder.framing != .chunked {
      state.progress.wrote(buffer.readableBytes)
      context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    } else {
      frame(piece, of: exchange)
      state.progress.wrote(outbound.readableBytes)
      flushOutbound()
    }
    guard self.exchange === exchange else { return waiter.resume(hasRoom: false) }
    // A piece queued behind unsent pieces does not restart their timeout.
    if wasEmpty { restartTimeout() }
    measureLater()
    guard !context.channel.isWritable else { return waiter.resume(hasRoom: true) }
    outgoing.sender = waiter
  }

  /// Copies a piece, framed, for the next write.
  private func frame(_ piece: ContentPiece, of exchange: Exchange) {
    outbound.clear()
    let isChunked = exchange.request.encoder.framing == .chunked
    if isChunked { RequestEncoder.beginChunk(piece.count, into: &outbound) }
    piece.write(to: &outbound)
    if isChunked { RequestEncoder.endChunk(into: &outbound) }
  }

  /// Resumes the upload, because the socket has accepted enough of the written bytes.
  func resumeUpload() {
    guard let sender = outgoing.sender else { return }
    outgoing.sender = nil
    measureProgress()
    sender.resume(hasRoom: true)
  }

  /// Ends the content.
  func finishContent(of exchange: Exchange) {
    guard self.exchange === exchange, state.progress.isSending, let context else { return }
    outgoing.upload = nil
    outbound.clear()
    if exchange.request.encoder.framing == .chunked { RequestEncoder.endChunks(into: &outbound) }
    let sent = context.eventLoop.makePromise(of: Void.self)
    state.progress.wrote(outbound.readableBytes)
    // Written even if empty: the promise succeeds once the socket has accepted everything before this write.
    context.writeAndFlush(wrapOutboundOut(outbound), promise: sent)
    measureLater()
    sent.futureResult.assumeIsolated().whenSuccess {
      guard self.exchange === exchange, self.state.progress.isSending else { return }
      self.measureProgress()
      self.completeRequest()
    }
  }

  /// Fails the exchange because its content could not be produced. Closes the connection, so that the server does not
  /// mistake partial content for complete content.
  func failContent(of exchange: Exchange, _ error: any Error) {
    // Once sending has stopped, the content no longer matters.
    guard self.exchange === exchange, state.progress.isSending else { return }
    fail(Upload.failure(error, requestState: state.progress.requestState))
  }

  // MARK: Progress

  /// The number of content bytes that are known to have left.
  var sentContent: Int64 { max(0, outgoing.written - Int64(state.progress.unsent)) }

  /// Measures and reports how much of the request the server has acknowledged: the socket accepts far more than the
  /// server has received.
  ///
  /// - Returns: whether any bytes have left since the last measurement.
  @discardableResult
  func measureProgress() -> Bool {
    guard let exchange, let context, state.progress.request != .unsent else { return false }
    let hasMoved = state.progress.measured(unsent: state.progress.unsent > 0 ? context.channel.unsentBytes : 0)
    // Unsent framing and TLS overhead are treated as unsent content, so that the report is never too high.
    report(sentContent, of: exchange)
    if hasMoved { restartTimeout() }
    return hasMoved
  }

  /// Reports all content as sent. The server's response proves that the content has arrived.
  func reportAllSent() {
    guard let exchange, state.progress.request == .complete else { return }
    report(outgoing.written, of: exchange)
  }

  private func report(_ total: Int64, of exchange: Exchange) {
    guard total > outgoing.reported else { return }
    outgoing.reported = total
    exchange.context.reportSent(total: total, expected: exchange.request.content.length)
  }

  /// Schedules a measurement, and further measurements while unsent bytes remain.
  private func measureLater() {
    guard outgoing.measurement == nil, let exchange, let context else { return }
    outgoing.measurement = context.eventLoop.assumeIsolated().scheduleTask(in: exchange.timeouts.measurementInterval) {
      guard self.exchange === exchange else { return }
      self.outgoing.measurement = nil
      self.measureProgress()
      if self.state.progress.unsent > 0 { self.measureLater() }
    }
  }
}
