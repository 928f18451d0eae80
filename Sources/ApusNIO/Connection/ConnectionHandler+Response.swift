import ApusCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The response side of a connection.
struct Incoming {
  /// Whether the first byte was recorded in the trace.
  var isFirstByteRecorded = false
  /// Whether the owner was notified that content is streamed.
  var isStreaming = false
  /// The head of the final response.
  var head: HTTPResponse?
  /// The channel to the reader of streamed content.
  var content: ContentChannel?
  /// The decoder of the content's codings; `nil` if there are none.
  var coding: ContentDecoder?
  /// Content that is not decoded yet.
  var coded = ByteBuffer()
  /// Collected content.
  var collected = Data()
  /// The maximum number of bytes to collect.
  var limit = Int.max
  /// The trailer fields of a complete response; `nil` before its end.
  var trailers: HTTPFields?
}

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
      if !incoming.isFirstByteRecorded { exchange.context.record(.firstByteArrived) }
      incoming.isFirstByteRecorded = true
      if state.awaited == .progress { restartTimeout() }
      return
    }
    restartTimeout()
    // A response that is already complete does not occupy the connection.
    if state.progress.response == .head, incoming.content != nil, !incoming.isStreaming, let connection {
      incoming.isStreaming = true
      owner.connectionStartedStreaming(connection)
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
    // The content of a redirect that is followed is not read, so its codings do not matter.
    if exchange.request.decodesContent, length != 0, !exchange.context.followsRedirect(head) {
      do {
        incoming.coding = try ContentDecoder.decoder(for: head.headerFields, limits: codingLimits)
      } catch {
        recordHead(head)
        return fail(error)
      }
      if incoming.coding != nil {
        // The head describes the content as delivered to the caller.
        head.headerFields[.contentEncoding] = nil
        head.headerFields[.contentLength] = nil
        length = nil
      }
    }
    recordHead(head)
    reportAllSent()
    incoming.head = head
    if exchange.context.collectsContent(of: head) {
      exchange.context.reportHead(head)
      incoming.limit = exchange.context.contentLimit
      guard let length else { return }
      if length > Int64(incoming.limit) { return tooLarge() }
      incoming.collected.reserveCapacity(min(Int(length), Self.reservedCapacity))
    } else {
      stream(head, length, to: exchange)
    }
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

  /// Delivers the head, and content as it arrives.
  private func stream(_ head: HTTPResponse, _ length: Int64?, to exchange: Exchange) {
    guard let connection else { return }
    let content = ContentChannel(
      onDemand: { connection.resumeReading(exchange) }, onCancel: { exchange.cancel() })
    incoming.content = content
    var response = ResponseMessage(head: head, content: ResponseContent(source: content, expectedLength: length))
    response.content.isDecoded = incoming.coding != nil
    exchange.deliverHead(response)
  }

  /// The maximum memory reserved for an announced length before the bytes arrive.
  private static let reservedCapacity = 1 << 20

  // MARK: Content

  private func receiveContent(_ bytes: ByteBuffer) {
    guard incoming.coding != nil else { return deliverContent(bytes) }
    var bytes = bytes
    incoming.coded.take(&bytes)
    inflate()
  }

  /// Decodes as much coded content as the reader accepts.
  private func inflate() {
    let exchange = exchange
    do {
      while self.exchange === exchange, !state.progress.isPaused,
        let piece = try incoming.coding?.next(from: &incoming.coded)
      {
        deliverContent(piece)
      }
    } catch {
      fail(error)
    }
  }

  private func deliverContent(_ bytes: ByteBuffer) {
    if let content = incoming.content {
      let mayGoOn = content.push(bytes.withUnsafeReadableBytes { Data($0) })
      if !mayGoOn { pauseReading() }
    } else {
      guard incoming.collected.count + bytes.readableBytes <= incoming.limit else { return tooLarge() }
      exchange?.context.reportReceived(bytes.readableBytes)
      bytes.withUnsafeReadableBytes { incoming.collected.append($0.bindMemory(to: UInt8.self)) }
    }
  }

  private func finishCoding(_ exchange: Exchange) throws(CodingError) {
    guard let coding = incoming.coding else { return }
    try coding.finish()
    guard coding.skipped > 0 else { return }
    exchange.context.record(.note("bytes skipped after the end of the content coding", coding.skipped))
  }

  private func fail(_ error: CodingError) {
    switch error.kind {
    case .tooLarge, .ratioTooHigh: fail(.contentTooLarge, error.detail, error)
    default: fail(.malformedResponse, error.detail, error)
    }
  }

  private func tooLarge() {
    fail(.contentTooLarge, "the content exceeds \(incoming.limit) bytes")
  }

  private func completeResponse(_ trailers: HTTPFields, canReuse: Bool) {
    guard let exchange else { return }
    do {
      try finishCoding(exchange)
    } catch {
      return fail(error)
    }
    reportAllSent()
    incoming.trailers = trailers
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
    guard let head = incoming.head, let trailers = incoming.trailers else { return }
    let (content, collected) = (incoming.content, incoming.collected)
    discardExchange()
    if completion == .reuse, let connection {
      connection.markServed()
      owner.connectionBecameFree(connection)
    } else {
      context?.close(promise: nil)
    }
    if let content {
      content.finish(trailers: trailers)
      exchange.complete(nil)
    } else {
      let content = ResponseContent(collected: collected, trailers: trailers)
      let response = ResponseMessage(head: head, content: content)
      // Decoding larger content would block the loop.
      guard collected.count <= Runtime.smallContent, let context else { return exchange.complete(response) }
      owner.resume(on: context.eventLoop) { exchange.complete(response) }
    }
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
    inflate()
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
