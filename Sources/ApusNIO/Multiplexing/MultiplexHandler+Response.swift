import ApusCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MultiplexHandler {
  // MARK: Heads

  func receiveBlock(_ id: StreamID, _ block: FieldBlock, isLast: Bool) throws(FrameViolation) {
    guard let stream = try openStream(id, for: .headers) else { return }
    let part: StreamState.Part
    do throws(FrameViolation) {
      part = try stream.state.receive(block, isLast: isLast)
    } catch {
      return fail(stream, error)
    }
    switch part {
    case .interim(let head): receiveInterim(head, stream)
    case .head(let head, let length):
      receiveHead(head, length, stream)
      if isLast, !stream.isGone { receiveEnd([:], stream) }
    case .trailers(let fields): receiveEnd(fields, stream)
    }
  }

  private func receiveInterim(_ head: HTTPResponse, _ stream: MultiplexStream) {
    let context = stream.exchange.context
    context.record(.firstByteArrived)
    context.reportInterim(head)
    if head.status == .continue { sendExpectedContent(of: stream) }
  }

  private func receiveHead(_ head: HTTPResponse, _ length: Int64?, _ stream: MultiplexStream) {
    var (head, length) = (head, length)
    let exchange = stream.exchange
    stream.reception.source.maximumStreams = state.settings.maximumStreams ?? .max
    if head.status == .misdirectedRequest, resendMisdirected(stream) { return }
    do {
      try stream.reception.prepareDecoding(&head, &length, of: exchange)
    } catch {
      recordHead(head, stream)
      return fail(stream, error)
    }
    recordHead(head, stream)
    reportAllSent(of: stream)
    do {
      try stream.reception.begin(head, length, of: exchange) {
        guard let connection else { return nil }
        return ContentChannel(onDemand: { connection.resumeReading(exchange) }, onCancel: { exchange.cancel() })
      }
    } catch {
      return fail(stream, error)
    }
    if !stream.isGone { restartTimeout(of: stream) }
  }

  /// Records the head. If it arrived before the whole request was sent, decides whether to continue sending.
  private func recordHead(_ head: HTTPResponse, _ stream: MultiplexStream) {
    guard
      stream.state.progress.headArrived(
        isSuccess: head.status.kind == .successful, isContentHeld: stream.outgoing.expected != nil)
    else { return }
    measureProgress(of: stream)
    stream.exchange.context.record(.note(.earlyResponse, sentContent(of: stream)))
    if !stream.state.progress.isSending { stream.outgoing.stop() }
  }

  /// Sends a request again on a new connection after 421 (Misdirected Request) (RFC 9110 §15.5.20). Returns `false` if
  /// the response is the result.
  private func resendMisdirected(_ stream: MultiplexStream) -> Bool {
    guard stream.canBeSentAgain, !stream.exchange.wasMisdirected else { return false }
    state.drain()
    updateSuspension()
    leave(stream, resetting: .cancel)
    // An exchange that has ended meanwhile is not sent again.
    _ = owner.resend(stream.exchange, .misdirected)
    return true
  }

  // MARK: Content

  func receiveContent(_ id: StreamID, _ bytes: ByteBuffer, padding: Int, isLast: Bool) throws(FrameViolation) {
    let count = bytes.readableBytes + padding
    guard state.receiveWindow.receive(count) else { throw .windowExceeded(0) }
    guard let stream = try openStream(id, for: .data) else { return credit(count) }
    guard stream.state.receiveWindow.receive(count, now: now) else {
      credit(count)
      return fail(stream, .windowExceeded(id))
    }
    do throws(FrameViolation) {
      try stream.state.receive(contentBytes: bytes.readableBytes, isLast: isLast)
    } catch {
      credit(count)
      return fail(stream, error)
    }
    if padding > 0 { consume(padding, stream) }
    deliver(bytes, stream)
    if stream.isGone { return }
    restartTimeout(of: stream)
    if isLast { receiveEnd([:], stream) }
  }

  /// Delivers content to its reader, or keeps it while the reader has no room.
  private func deliver(_ bytes: ByteBuffer, _ stream: MultiplexStream) {
    guard bytes.readableBytes > 0 else { return }
    guard !stream.state.progress.isPaused else {
      // Copied, because a small piece would retain the whole buffer that was read.
      stream.unread.writeImmutableBuffer(bytes)
      return updateSuspension()
    }
    receive(bytes, stream)
  }

  private func receive(_ bytes: ByteBuffer, _ stream: MultiplexStream) {
    do {
      let hasRoom = try stream.reception.receive(bytes, of: stream.exchange)
      consume(bytes.readableBytes, stream)
      if !hasRoom, !stream.isGone { pause(stream) }
    } catch {
      credit(bytes.readableBytes)
      fail(stream, error)
    }
  }

  private func pause(_ stream: MultiplexStream) {
    _ = stream.state.progress.pause()
    stream.deadline = nil
  }

  /// Continues to deliver content, because its reader has room again.
  func resumeReading(_ stream: MultiplexStream) {
    guard stream.state.progress.resume() else { return }
    do {
      if try !stream.reception.decode(of: stream.exchange) { pause(stream) }
    } catch {
      return fail(stream, error)
    }
    while !stream.isGone, !stream.state.progress.isPaused,
      let piece = stream.unread.readSlice(length: min(stream.unread.readableBytes, Self.pieceSize)),
      piece.readableBytes > 0
    {
      receive(piece, stream)
    }
    updateSuspension()
    guard !stream.isGone, !stream.state.progress.isPaused else { return }
    stream.unread = ByteBuffer()
    switch stream.end {
    case nil: restartTimeout(of: stream)
    case .complete(let trailers): completeResponse(trailers, stream)
    case .failed(let error): fail(stream, error)
    }
  }

  /// The maximum number of unread bytes delivered at a time.
  private static let pieceSize = 64 << 10

  /// Announces bytes as consumed that belong to no stream any longer.
  func credit(_ count: Int) {
    guard count > 0 else { return }
    state.receiveWindow.consume(count)
    guard !state.isOver, let increment = state.receiveWindow.update() else { return }
    writer.writeWindowUpdate(0, increment: UInt32(increment))
    flushSoon()
  }

  private func consume(_ count: Int, _ stream: MultiplexStream) {
    credit(count)
    guard !stream.state.isResponseOver, !stream.isClosed else { return }
    // The growth depends on all streams, so it is computed only for an update.
    let growth = stream.state.receiveWindow.isUpdateDue(after: count) ? growth(of: stream) : 0
    guard
      let increment = stream.state.receiveWindow.consume(
        count, now: now, roundTrip: state.roundTrip, growth: growth)
    else { return }
    writer.writeWindowUpdate(stream.id, increment: UInt32(increment))
    flushSoon()
  }

  /// The number of bytes by which a stream's window may grow. Readers that stop can leave whole windows unread, so the
  /// windows of streamed responses together stay below the connection's window.
  private func growth(of stream: MultiplexStream) -> Int {
    guard stream.reception.content != nil else { return ReceiveWindow.maximum }
    let granted = streams.values.reduce(0) { sum, other in
      other.reception.content != nil ? sum + other.state.receiveWindow.target : sum
    }
    return max(0, Self.streamedWindows - granted)
  }

  private static let streamedWindows = 12 << 20

  // MARK: The end of the response

  private func receiveEnd(_ trailers: HTTPFields, _ stream: MultiplexStream) {
    // After the reader has consumed what has arrived.
    if stream.state.progress.isPaused {
      guard stream.state.progress.request == .complete else {
        stream.end = .complete(trailers: trailers)
        return
      }
      return close(stream, .complete(trailers: trailers))
    }
    completeResponse(trailers, stream)
  }

  private func completeResponse(_ trailers: HTTPFields, _ stream: MultiplexStream) {
    do {
      try stream.reception.finish(trailers, of: stream.exchange)
    } catch {
      return fail(stream, error)
    }
    reportAllSent(of: stream)
    guard stream.state.progress.isIncomplete else { return complete(stream) }
    guard stream.state.progress.isSending, !state.isOver else {
      return failIncomplete(stream, stream.state.progress.isSending ? "the connection closed" : nil)
    }
    // After an early success, the request continues (RFC 9110 §7.5).
    stream.state.progress.responseCompleted()
    restartTimeout(of: stream)
  }

  /// Ends an exchange whose response is complete. The connection is returned before the caller is resumed, because the
  /// caller may need it.
  func complete(_ stream: MultiplexStream) {
    guard let response = stream.reception.complete else { return }
    state.exchangeCompleted()
    connection?.markServed()
    let loop = context?.eventLoop
    if stream.state.progress.request == .complete || stream.isClosed {
      leave(stream)
    } else {
      leave(stream, resetting: .cancel)
    }
    stream.exchange.complete(response, on: loop)
  }

  // MARK: RST_STREAM

  func receiveReset(_ id: StreamID, _ code: HTTP2ErrorCode) throws(FrameViolation) {
    guard let stream = try openStream(id, for: .reset) else { return }
    // The frame ends an exchange, so it is not part of a flood.
    reader.frameWasAwaited()
    let reason = "the server reset stream \(id) with \(code)"
    report(code)
    if stream.state.isResponseOver { return resetAfterResponse(stream, code, reason) }
    guard !stream.state.progress.hasHead else { return resetWithError(stream, reason) }
    switch code {
    case .refusedStream:
      // A connection that refuses streams within its own limit takes no more exchanges. Nor may an exchange return to a
      // connection to which an earlier upload of it may still write.
      if state.open <= state.streamLimit || stream.outgoing.upload != nil { state.drain() }
      updateSuspension()
      leave(stream)
      sendAgain(stream, .unprocessed, reason)
    case .http11Required where owner.offersHTTP1:
      state.drain()
      updateSuspension()
      guard stream.exchange.isRepeatable else { return resetWithError(stream, reason) }
      leave(stream)
      sendAgain(stream, .wrongProtocol, reason)
    default: resetWithError(stream, reason)
    }
  }

  /// The response is complete, but not the request. With NO_ERROR the server says that it needs no more of it.
  private func resetAfterResponse(_ stream: MultiplexStream, _ code: HTTP2ErrorCode, _ reason: String) {
    state.ended()
    stream.isClosed = true
    guard code == .noError || !stream.state.progress.isIncomplete else { return failIncomplete(stream, reason) }
    stream.exchange.context.record(.note(.earlyResponse, sentContent(of: stream)))
    stream.state.progress.requestDeclined()
    stream.outgoing.stop()
    stream.deadline = nil
    if stream.end == nil { complete(stream) }
  }

  private func resetWithError(_ stream: MultiplexStream, _ reason: String) {
    if !stream.isClosed { state.ended() }
    stream.isClosed = true
    if stream.state.progress.isIncomplete { return failIncomplete(stream, reason) }
    lose(stream, .connectionLost, reason)
  }

  /// Sends a request again on another connection. Fails the exchange if that is not possible.
  func sendAgain(_ stream: MultiplexStream, _ cause: Exchange.State.Return, _ reason: String) {
    if stream.canBeSentAgain, owner.resend(stream.exchange, cause) { return }
    stream.exchange.fail(TransportError(.connectionLost, requestState: .notSent, detail: reason))
  }

  // MARK: Failing

  /// Fails the exchange and resets its stream, unless the server has closed it.
  func fail(_ stream: MultiplexStream, _ error: TransportError, code: HTTP2ErrorCode = .cancel) {
    guard !stream.isGone else { return }
    let content = stream.reception.content
    leave(stream, resetting: code)
    content?.finish(throwing: error)
    stream.exchange.fail(error)
  }

  func fail(_ stream: MultiplexStream, _ violation: FrameViolation) {
    let error = TransportError(
      .malformedResponse, requestState: stream.requestState, detail: violation.description, underlying: violation)
    fail(stream, error, code: violation.code)
  }

  private func fail(_ stream: MultiplexStream, _ fault: Reception.Fault) {
    let error = TransportError(
      fault.code, requestState: stream.requestState, detail: fault.detail, underlying: fault.underlying)
    fail(stream, error)
  }

  /// Fails an exchange whose content was not sent completely although the server responded with success.
  func failIncomplete(_ stream: MultiplexStream, _ reason: String?, _ source: TransportError.Source = .server) {
    let error = stream.reception.incompleteRequest(
      sent: sentContent(of: stream), of: stream.exchange.request.content.length, reason)
    if let error { fail(stream, error.attributed(to: source)) }
  }

  // MARK: Timeouts

  /// Restarts the timeout of the awaited progress.
  func restartTimeout(of stream: MultiplexStream) {
    let timeouts = stream.exchange.timeouts
    let (limit, phase): (TimeAmount?, CallPhase) =
      switch stream.state.progress.awaited {
      case nil: (nil, stream.phase)
      case .head: (timeouts.firstByte, .awaitingHead)
      case .content: (timeouts.stall, .receiving)
      case .progress: (timeouts.stall, stream.state.progress.hasHead ? .receiving : .connecting)
      }
    stream.phase = phase
    stream.deadline = limit.map { now + $0 }
    if let deadline = stream.deadline { wake(by: deadline) }
  }
}
