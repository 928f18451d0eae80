import ApusCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ConnectionHandler {
  // MARK: Decoding

  /// Decodes the complete parts of the bytes that have arrived.
  func decode() {
    guard let exchange else { return }
    do {
      // While reading is paused, bytes are not decoded, because a few coded bytes can decode to very many.
      while self.exchange === exchange, !state.progress.isPaused, state.progress.response != .completeEarly,
        let part = try decoder.next(from: &inbound)
      {
        handle(part)
      }
    } catch {
      return fail(.malformedResponse, error.detail, error)
    }
    guard self.exchange === exchange else { return }
    // Releases the buffer, so that the channel can reuse it for the next read.
    if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    guard state.progress.hasHead else {
      // The first byte does not restart the timeout for the head.
      if !isFirstByteRecorded { exchange.context.record(.firstByteArrived) }
      isFirstByteRecorded = true
      if state.awaited == .progress { restartTimeout() }
      return
    }
    restartTimeout()
    // A response that is already complete does not occupy the connection.
    if state.progress.response == .head, reception.content != nil, !isStreaming, let connection {
      isStreaming = true
      owner.connectionSuspended(connection)
    }
  }

  /// Restarts the timeout of the awaited progress.
  func restartTimeout() {
    guard let exchange else { return }
    switch state.awaited {
    case nil: watchdog?.clear()
    case .head: watchdog?.allow(exchange.timeouts.firstByte, in: .awaitingHead)
    case .content: watchdog?.allow(exchange.timeouts.stall, in: .receiving)
    case .progress:
      watchdog?.allow(exchange.timeouts.stall, in: state.progress.hasHead ? .receiving : .connecting)
    }
  }

  func handle(_ part: DecodedPart) {
    switch part {
    case .interim(let response): receiveInterim(response)
    case .head(let head, let framing): receiveHead(head, framing)
    case .content(let bytes): receiveContent(bytes)
    case .end(let trailers, let canReuse): completeResponse(trailers, canReuse: canReuse)
    }
  }

  private func receiveInterim(_ response: HTTPResponse) {
    guard let context = exchange?.context else { return }
    context.reportInterim(response)
    if response.status == .continue { sendExpectedContent() }
  }

  // MARK: Head

  private func receiveHead(_ head: HTTPResponse, _ framing: ResponseFraming) {
    guard let exchange else { return }
    var (head, length) = (head, framing.length)
    if head.status == .misdirectedRequest, resendMisdirected(exchange) { return }
    do {
      try reception.prepareDecoding(&head, &length, of: exchange)
    } catch {
      recordHead(head)
      return fail(error)
    }
    recordHead(head)
    reportAllSent()
    do {
      try reception.begin(head, length, of: exchange) {
        guard let connection else { return nil }
        return ContentChannel(onDemand: { connection.resumeReading(exchange) }, onCancel: { exchange.cancel() })
      }
    } catch {
      fail(error)
    }
  }

  /// Sends a request again on a new connection after 421 (Misdirected Request) (RFC 9110 §15.5.20). Returns `false` if
  /// the response is the result.
  private func resendMisdirected(_ exchange: Exchange) -> Bool {
    guard exchange.request.content.isReplayable || outgoing.isUntouched, owner.resend(exchange, .misdirected) else {
      return false
    }
    state.broken()
    discardExchange()
    abort()
    return true
  }

  /// Records the head. If it arrived before the whole request was sent, decides whether to continue sending.
  private func recordHead(_ head: HTTPResponse) {
    guard let exchange,
      state.headArrived(
        isSuccess: head.status.kind == .successful, isContentHeld: outgoing.expected != nil,
        isContentWritten: outgoing.written == exchange.request.content.length)
    else { return }
    measureProgress()
    exchange.context.record(.note(.earlyResponse, sentContent))
    if !state.progress.isSending { outgoing.stop() }
  }

  // MARK: Content

  /// Receives content. Pauses reading if the reader has no room for more.
  ///
  /// - Parameter bytes: the content; `nil` to continue with content that arrived before.
  private func receiveContent(_ bytes: ByteBuffer?) {
    guard let exchange else { return }
    do {
      let hasRoom =
        if let bytes { try reception.receive(bytes, of: exchange) } else { try reception.decode(of: exchange) }
      if !hasRoom { pauseReading() }
    } catch {
      fail(error)
    }
  }

  private func fail(_ fault: Reception.Fault) {
    fail(fault.code, fault.detail, fault.underlying)
  }

  private func completeResponse(_ trailers: HTTPFields, canReuse: Bool) {
    guard let exchange else { return }
    do {
      try reception.finish(trailers, of: exchange)
    } catch {
      return fail(error)
    }
    reportAllSent()
    let completion = state.responseCompleted(
      canReuse: canReuse, isExact: inbound.readableBytes == 0, isOpen: context?.channel.isActive == true)
    switch completion {
    case .reuse, .close: end(exchange, completion)
    case .sendOn: break
    case .fail: failIncomplete(state.progress.isSending ? Self.closed : nil)
    }
  }

  /// Ends an exchange whose response and request are complete. The connection is returned before the caller is resumed,
  /// because the caller may need it.
  ///
  /// - Parameter exchange: the exchange, which has left ``state``.
  func end(_ exchange: Exchange, _ completion: ConnectionState<Exchange>.Completion) {
    guard let response = reception.complete else { return }
    let loop = context?.eventLoop
    discardExchange()
    if completion == .reuse, let connection {
      connection.markServed()
      owner.connectionBecameFree(connection, isSuspended: false)
    } else {
      context?.close(promise: nil)
    }
    exchange.complete(response, on: loop)
  }

  // MARK: Back-pressure

  private func pauseReading() {
    guard state.pause() else { return }
    watchdog?.clear()
    setReading(false)
  }

  /// Resumes reading, beginning with the bytes that were read already.
  func resumeReading(_ exchange: Exchange) {
    guard self.exchange === exchange, state.progress.resume() else { return }
    receiveContent(nil)
    if self.exchange === exchange { decode() }
    guard !state.progress.isPaused else { return }
    if self.exchange === exchange, state.isCutShort { return endInput() }
    // Reading resumes even after a complete response, to detect the end of the connection.
    setReading(true)
  }

  private func setReading(_ isReading: Bool) {
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }
}

extension ResponseFraming {
  /// The length of the content, if it is known.
  fileprivate var length: Int64? {
    switch self {
    case .none: 0
    case .length(let length): length
    case .chunked, .untilClose: nil
    }
  }
}
