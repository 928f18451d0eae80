import ApusCore
import HTTPTypes
import NIOCore
import Synchronization

extension MultiplexHandler {
  // MARK: Beginning

  func beginExchange(_ exchange: Exchange) {
    guard let connection, context?.channel.isActive == true else { return owner.take(back: exchange, .unprocessed) }
    now = .now()
    let admission = state.offered(isRepeatable: exchange.isRepeatable, now: now)
    if admission == .giveBack {
      becameFree()
      return owner.take(back: exchange, .unprocessed)
    }
    guard exchange.enter(connection) else {
      if case .open = admission { state.ended() }
      return becameFree()
    }
    if case .open(let id) = admission { open(id, for: exchange, on: connection) } else { waiting.append(exchange) }
    probe()
  }

  /// Sends a PING if the server has been silent for long.
  private func probe() {
    guard let ping = state.probe(now: now) else { return }
    writer.writePing(ping, isAcknowledgement: false)
    flushSoon()
    if let deadline = state.deadline { wake(by: deadline) }
  }

  /// Begins exchanges that wait, as far as there is room for them.
  func beginWaiting() {
    while let connection, let exchange = waiting.first {
      switch state.offered(isRepeatable: exchange.isRepeatable, now: now) {
      case .open(let id):
        waiting.removeFirst()
        open(id, for: exchange, on: connection)
      case .wait: return
      case .giveBack:
        waiting.removeFirst()
        becameFree()
        owner.take(back: exchange, .unprocessed)
      }
    }
  }

  private func open(_ id: StreamID, for exchange: Exchange, on connection: Connection) {
    let request = exchange.request
    let stream = MultiplexStream(
      exchange,
      StreamState(
        id, method: request.head.method, window: state.settings.initialWindowSize, limits: framingLimits),
      codingLimits: codingLimits)
    streams[id] = stream
    exchange.streamID.store(id, ordering: .relaxed)
    // An exchange that waited for the connection to be made reports how long that took, even if it is not the first.
    let isReused = exchange.waitingTime.map { now - TimeAmount($0) > connection.openedAt } ?? true
    exchange.recordConnection(connection, isReused: isReused, info(of: stream))
    // If the caller ended the exchange before the connection was recorded, its error already states that nothing was
    // sent.
    guard !stream.isGone else { return }
    guard exchange.place == .on(connection) else { return leave(stream) }
    do throws(FramingError) {
      try writer.writeHead(id, isLast: request.content.hasNoBytes) { buffer throws(FramingError) in
        try encoder.encode(
          request.head, adding: request.encoder.adding, framing: request.encoder.framing, into: &buffer)
      }
    } catch {
      leave(stream)
      return exchange.fail(
        TransportError(.invalidRequest, requestState: .notSent, detail: error.detail, underlying: error))
    }
    stream.state.progress.requestBegun()
    unflushed.append(stream)
    flushSoon()
    begin(request.content, of: stream, on: connection)
  }

  private func info(of stream: MultiplexStream) -> ConnectionInfo {
    var info = ConnectionInfo(.http2)
    (info.stream, info.openStreams) = (stream.id, UInt32(clamping: state.open))
    info.maximumStreams = UInt32(clamping: state.streamLimit)
    return info
  }

  private func begin(_ content: MessageContent, of stream: MultiplexStream, on connection: Connection) {
    if content.hasNoBytes { return finishRequest(of: stream) }
    if let upload = content.upload(of: stream.exchange, on: connection) {
      if stream.exchange.request.expectsContinue { awaitContinue(upload, stream) } else { start(upload, stream) }
    } else if case .bytes(let data) = content {
      stream.pending.writeBytes(data)
      stream.outgoing.written = Int64(data.count)
      stream.endsAfterPending = true
      if stream.state.sendWindow.available < data.count { awaitProgress(of: stream) }
      send(stream)
    }
  }

  private func start(_ upload: Upload, _ stream: MultiplexStream) {
    stream.outgoing.upload = upload.start(on: context.flatMap { owner.executor(on: $0.eventLoop) })
  }

  /// Waits for 100 (Continue), see ``Upload/continueLimit``.
  private func awaitContinue(_ upload: Upload, _ stream: MultiplexStream) {
    guard let context else { return }
    let limit = context.eventLoop.assumeIsolated().scheduleTask(in: Upload.continueLimit) {
      self.sendExpectedContent(of: stream)
    }
    stream.outgoing.expected = (upload, limit)
  }

  /// Sends the content withheld for 100 (Continue), if there is any.
  func sendExpectedContent(of stream: MultiplexStream) {
    guard let (upload, limit) = stream.outgoing.expected, !stream.isGone else { return }
    stream.outgoing.expected = nil
    limit.cancel()
    start(upload, stream)
  }

  // MARK: Content

  private func stream(of exchange: Exchange) -> MultiplexStream? {
    guard let stream = streams[exchange.streamID.load(ordering: .relaxed)], stream.exchange === exchange else {
      return nil
    }
    return stream
  }

  func writePiece(_ piece: ContentPiece, of exchange: Exchange, _ waiter: RoomWaiter) {
    guard let stream = stream(of: exchange), stream.state.progress.isSending, !state.isOver else {
      return waiter.resume(hasRoom: false)
    }
    let wasEmpty = stream.state.progress.unsent == 0
    stream.outgoing.written += Int64(piece.count)
    stream.state.progress.wrote(piece.count)
    if case .buffer(let buffer) = piece, stream.pending.readableBytes == 0 {
      stream.pending = buffer
    } else {
      piece.write(to: &stream.pending)
    }
    stream.outgoing.sender = waiter
    // A piece queued behind unsent pieces does not restart their timeout.
    if wasEmpty { restartTimeout(of: stream) }
    send(stream)
    measureLater(stream)
  }

  func finishContent(of exchange: Exchange) {
    guard let stream = stream(of: exchange), stream.state.progress.isSending, !state.isOver else { return }
    stream.outgoing.upload = nil
    stream.endsAfterPending = true
    guard stream.pending.readableBytes == 0 else { return send(stream) }
    writer.writeContentHeader(stream.id, count: 0, isLast: true)
    flushSoon()
    lastFrameMade(of: stream)
  }

  func failContent(of exchange: Exchange, _ error: any Error) {
    // Once sending has stopped, the content no longer matters.
    guard let stream = stream(of: exchange), stream.state.progress.isSending else { return }
    fail(stream, Upload.failure(error, requestState: stream.requestState))
  }

  /// Queues the content of a stream for sending if its window permits any.
  func send(_ stream: MultiplexStream) {
    guard !stream.isQueued, stream.pending.readableBytes > 0, stream.state.sendWindow.available > 0 else { return }
    stream.isQueued = true
    sending.append(stream)
    flushSoon()
  }

  /// Puts content into frames, one frame per stream in turn. Returns whether more content can be sent.
  func writeContent() -> Bool {
    while !state.isOver, state.sendWindow.available > 0, let stream = sending.first {
      guard writer.buffer.readableBytes < Self.flushSize else { return true }
      sending.removeFirst()
      stream.isQueued = false
      if !stream.isClosed { writeFrame(of: stream) }
    }
    // The connection's window is used up.
    for stream in sending where !stream.isClosed { awaitProgress(of: stream) }
    return false
  }

  /// Begins to await the progress of content that the windows delay.
  private func awaitProgress(of stream: MultiplexStream) {
    guard stream.state.progress.unsent == 0 else { return }
    stream.state.progress.wrote(stream.pending.readableBytes)
    restartTimeout(of: stream)
    measureLater(stream)
  }

  /// The number of bytes in one write, beyond which further content waits for the next write.
  private static let flushSize = 128 << 10

  private func writeFrame(of stream: MultiplexStream) {
    let count = min(
      stream.pending.readableBytes, stream.state.sendWindow.available, state.sendWindow.available,
      FrameReader.maximumFrameSize)
    guard count > 0, var content = stream.pending.readSlice(length: count) else { return }
    let isEmpty = stream.pending.readableBytes == 0
    writer.writeContentHeader(stream.id, count: count, isLast: isEmpty && stream.endsAfterPending)
    writer.buffer.writeBuffer(&content)
    stream.state.sendWindow.take(count)
    state.sendWindow.take(count)
    reader.contentWasSent(count)
    stream.sentMark = written + writer.buffer.readableBytes
    guard isEmpty else {
      if stream.state.sendWindow.available <= 0 { awaitProgress(of: stream) }
      return send(stream)
    }
    stream.pending = ByteBuffer()
    if stream.endsAfterPending {
      lastFrameMade(of: stream)
    } else if let sender = stream.outgoing.sender {
      stream.outgoing.sender = nil
      sender.resume(hasRoom: true)
    }
  }

  private func lastFrameMade(of stream: MultiplexStream) {
    if stream.state.progress.response == .completeEarly { return finishing.append(stream) }
    finishRequest(of: stream)
  }

  /// Ends the request: all of it is in frames, which are written if the response is complete.
  func finishRequest(of stream: MultiplexStream) {
    let exchange = stream.exchange
    stream.state.progress.requestCompleted()
    if stream.outgoing.written > 0, stream.state.progress.unsent == 0 {
      exchange.context.reportSent(total: stream.outgoing.written, expected: exchange.request.content.length)
      stream.outgoing.reported = stream.outgoing.written
    }
    exchange.context.record(.requestSent)
    guard !stream.isGone else { return }
    guard stream.state.progress.response == .completeEarly else { return restartTimeout(of: stream) }
    reportAllSent(of: stream)
    complete(stream)
  }

  // MARK: Progress

  /// The number of content bytes of a stream that are known to have left.
  func sentContent(of stream: MultiplexStream) -> Int64 {
    max(0, stream.outgoing.written - Int64(stream.state.progress.unsent))
  }

  /// Measures how much of a request has left: the rest is not in frames yet, or the server has not acknowledged it.
  ///
  /// - Returns: whether any bytes have left since the last measurement.
  @discardableResult
  func measureProgress(of stream: MultiplexStream) -> Bool {
    guard let context, stream.state.progress.unsent > 0 else { return false }
    let acknowledged = written - context.channel.unsentBytes
    let framed = Int(clamping: stream.outgoing.written) - stream.pending.readableBytes
    let unacknowledged = min(framed, max(0, stream.sentMark - acknowledged))
    let hasMoved = stream.state.progress.measured(unsent: stream.pending.readableBytes + unacknowledged)
    report(sentContent(of: stream), of: stream)
    if hasMoved { restartTimeout(of: stream) }
    return hasMoved
  }

  /// Reports all content as sent. The server's response proves that the content has arrived.
  func reportAllSent(of stream: MultiplexStream) {
    if stream.state.progress.request == .complete { report(stream.outgoing.written, of: stream) }
  }

  private func report(_ total: Int64, of stream: MultiplexStream) {
    guard total > stream.outgoing.reported else { return }
    stream.outgoing.reported = total
    stream.exchange.context.reportSent(total: total, expected: stream.exchange.request.content.length)
  }

  /// Schedules a measurement, and further measurements while unsent bytes remain.
  private func measureLater(_ stream: MultiplexStream) {
    guard measurement == nil, let context else { return }
    measurement = context.eventLoop.assumeIsolated().scheduleTask(in: stream.exchange.timeouts.measurementInterval) {
      self.measurement = nil
      self.now = .now()
      for stream in self.streams.values where stream.state.progress.unsent > 0 { self.measureProgress(of: stream) }
      if let next = self.streams.values.first(where: { $0.state.progress.unsent > 0 }) { self.measureLater(next) }
    }
  }
}

// MARK: - Ending from outside

extension MultiplexHandler {
  func abandon(_ exchange: Exchange) {
    now = .now()
    if stopWaiting(exchange) { return }
    if let stream = stream(of: exchange) { leave(stream, resetting: .cancel) }
  }

  /// Removes an exchange that waits for a stream. Returns `false` if it does not wait.
  private func stopWaiting(_ exchange: Exchange) -> Bool {
    guard let index = waiting.firstIndex(of: exchange) else { return false }
    waiting.remove(at: index)
    becameFree()
    return true
  }

  func endAttempt(of exchange: Exchange) {
    now = .now()
    guard let stream = stream(of: exchange) else {
      if stopWaiting(exchange) {
        return exchange.fail(.attemptTimedOut(in: .connecting, requestState: .notSent))
      }
      // The exchange may have moved to another connection meanwhile.
      return exchange.deadlinePassed()
    }
    guard !stream.state.progress.hasHead else { return }
    let phase: CallPhase = stream.state.progress.request == .complete ? .awaitingHead : .connecting
    fail(stream, .attemptTimedOut(in: phase, requestState: stream.requestState))
  }

  func resumeReading(_ exchange: Exchange) {
    now = .now()
    if let stream = stream(of: exchange) { resumeReading(stream) }
  }

  func timedOut(_ stream: MultiplexStream) {
    // Bytes that have left since the last measurement restart the timeout.
    if stream.state.progress.awaited == .progress, measureProgress(of: stream) { return }
    let failure = stream.exchange.timeouts.failure(in: stream.phase)
    if stream.state.progress.isIncomplete {
      // Without unsent bytes the content was not produced in time.
      let source = stream.state.progress.unsent > 0 ? TransportError.Source.server : .content
      return failIncomplete(stream, failure.incomplete, source)
    }
    fail(
      stream,
      TransportError(.timeout, in: stream.phase, requestState: stream.requestState, detail: failure.detail))
  }
}

extension MessageContent {
  /// Whether the request ends with its head.
  fileprivate var hasNoBytes: Bool {
    if case .bytes(let data) = self { return data.isEmpty }
    return isEmpty
  }
}
