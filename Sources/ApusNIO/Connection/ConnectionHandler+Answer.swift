#if NIO
  import ApusCore
  import HTTPTypes
  import NIOCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension ConnectionHandler {
    /// Takes what has arrived, as far as it is complete.
    func decode() {
      guard let exchange else { return }
      do {
        // What nobody takes yet stays as it came: little can stand for very much.
        while self.exchange === exchange, !state.isPaused,
          let part = try decoder.next(from: &inbound)
        {
          take(part)
        }
      } catch {
        return fail(.malformedResponse, error.detail, error)
      }
      guard self.exchange === exchange else { return }
      // The buffer goes back to where it came from, to be used for the next read.
      if inbound.readableBytes == 0 { inbound = ByteBuffer() }
      guard state.response == .head else {
        // The limit for the head goes on: a byte now and then is no head.
        if !incoming.isTold { exchange.context.record(.firstByteArrived) }
        incoming.isTold = true
        if state.owed == .room { expect() }
        return
      }
      expect()
      // An answer that was complete at once needs no other connections in its place.
      if incoming.content != nil, !incoming.isStreaming, let connection {
        incoming.isStreaming = true
        core.streams(connection)
      }
    }

    /// From now on what is owed must come in its time.
    func expect() {
      guard let exchange else { return }
      switch state.owed {
      case nil: watchdog?.clear()
      case .head: watchdog?.allow(exchange.timeouts.firstByte, in: .awaitingHead)
      case .content: watchdog?.allow(exchange.timeouts.stall, in: .receiving)
      case .room:
        watchdog?.allow(exchange.timeouts.stall, in: state.response == .head ? .receiving : .connecting)
      }
    }

    func take(_ part: DecodedPart) {
      switch part {
      case .interim(let response): pass(interim: response)
      case .head(let head, let framing): begin(head, framing)
      case .content(let bytes): receive(bytes)
      case .end(let trailers, let canReuse): finish(trailers, canReuse: canReuse)
      }
    }

    private func pass(interim response: HTTPResponse) {
      guard let context = exchange?.context else { return }
      context.record(.interim(status: response.status.code))
      context.values[InterimResponses.self]?(response)
    }

    private func begin(_ head: HTTPResponse, _ framing: ResponseFraming) {
      guard let exchange else { return }
      var (head, length) = (head, framing.length)
      // Nobody reads the content of a redirect that is followed, and what it would decode to is nobody's worry.
      if exchange.request.undoesCodings, length != 0, !exchange.context.follows(head) {
        do {
          incoming.coding = try ContentDecoder.decoder(for: head.headerFields, limits: core.codingLimits)
        } catch {
          state.headArrived()
          return fail(error)
        }
        if incoming.coding != nil {
          // The head describes the content as it is handed over.
          head.headerFields[.contentEncoding] = nil
          head.headerFields[.contentLength] = nil
          length = nil
        }
      }
      state.headArrived()
      reportAll()
      incoming.head = head
      if exchange.context.collects(head) {
        exchange.context.headArrived(head)
        incoming.limit = exchange.context.contentLimit
        guard let length else { return }
        if length > Int64(incoming.limit) { return tooLarge() }
        incoming.collected.reserveCapacity(min(Int(length), Self.reservedCapacity))
      } else {
        stream(head, length, to: exchange)
      }
    }

    /// Hands the head over, and content as it comes.
    private func stream(_ head: HTTPResponse, _ length: Int64?, to exchange: Exchange) {
      guard let connection else { return }
      let content = ContentChannel(
        onDemand: { connection.resumeReading(exchange) }, onCancel: { exchange.cancel() })
      incoming.content = content
      exchange.answer(
        ResponseMessage(head: head, content: ResponseContent(source: content, expectedLength: length)))
    }

    /// What an announced length is believed before the bytes come.
    private static let reservedCapacity = 1 << 20

    private func receive(_ bytes: ByteBuffer) {
      guard incoming.coding != nil else { return deliver(bytes) }
      var bytes = bytes
      incoming.coded.take(&bytes)
      inflate()
    }

    /// Decodes as much as is taken.
    private func inflate() {
      let exchange = exchange
      do {
        while self.exchange === exchange, !state.isPaused,
          let piece = try incoming.coding?.next(from: &incoming.coded)
        {
          deliver(piece)
        }
      } catch {
        fail(error)
      }
    }

    private func deliver(_ bytes: ByteBuffer) {
      if let content = incoming.content {
        let mayGoOn = content.push(bytes.withUnsafeReadableBytes { Data($0) })
        if !mayGoOn { pauseReading() }
      } else {
        guard incoming.collected.count + bytes.readableBytes <= incoming.limit else { return tooLarge() }
        exchange?.context.received(bytes.readableBytes)
        bytes.withUnsafeReadableBytes { incoming.collected.append($0.bindMemory(to: UInt8.self)) }
      }
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

    /// The answer is complete: the connection goes back before the caller goes on, who may need it.
    private func finish(_ trailers: HTTPFields, canReuse: Bool) {
      guard let exchange, let head = incoming.head else { return }
      do {
        try incoming.coding?.finish()
      } catch {
        return fail(error)
      }
      reportAll()
      let isReusable = state.responseCompleted(
        canReuse: canReuse, isExact: inbound.readableBytes == 0, isOpen: context?.channel.isActive == true)
      let (content, collected) = (incoming.content, incoming.collected)
      clear()
      if isReusable, let connection {
        connection.markServed()
        core.release(connection)
      } else {
        context?.close(promise: nil)
      }
      if let content {
        content.finish(trailers: trailers)
        exchange.finish(nil)
      } else {
        let content = ResponseContent(collected: collected, trailers: trailers)
        exchange.finish(ResponseMessage(head: head, content: content))
      }
    }

    // MARK: Back-pressure

    private func pauseReading() {
      guard state.paused() else { return }
      watchdog?.clear()
      setReading(false)
    }

    /// There is room again: first for what has been read already.
    func resumeReading(_ exchange: Exchange) {
      guard self.exchange === exchange, state.resumed() else { return }
      inflate()
      if self.exchange === exchange { decode() }
      guard !state.isPaused else { return }
      if self.exchange === exchange, state.isCutShort { return inputEnded() }
      // Also after an answer whose end had been read already, to notice the connection's own.
      setReading(true)
    }

    private func setReading(_ isReading: Bool) {
      try? context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }
  }

  extension ResponseFraming {
    /// How many bytes of content come, when that is known.
    fileprivate var length: Int64? {
      switch self {
      case .none: 0
      case .length(let length): length
      case .chunked, .untilClose: nil
      }
    }
  }
#endif
