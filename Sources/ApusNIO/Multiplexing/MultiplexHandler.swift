import ApusCore
import HTTPTypes
import NIOCore
import NIOSSL

/// The channel handler of one connection that carries many exchanges in HTTP/2 (RFC 9113). Everything happens on its
/// event loop.
///
/// All frames of one run of the event loop leave in one write, because a TLS record and a system call cost more than
/// the frames. This file handles the channel's events and the frames of the connection;
/// `MultiplexHandler+Request.swift` writes requests, `MultiplexHandler+Response.swift` reads responses, and
/// `MultiplexHandler+Ending.swift` ends streams and the connection.
final class MultiplexHandler: ChannelInboundHandler, ExchangeCarrier {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let owner: any ConnectionOwner
  /// The connection that other types use. The connection and this handler retain each other until the socket closes.
  var connection: Connection?
  var context: ChannelHandlerContext?
  let framingLimits: FramingLimits
  let codingLimits: CodingLimits
  var state = MultiplexState(now: .now())
  /// The streams that carry exchanges.
  var streams: [StreamID: MultiplexStream] = [:]
  /// The exchanges that wait until a stream can be opened for them.
  var waiting: [Exchange] = []

  var reader: FrameReader
  var writer = FrameWriter()
  var encoder = FieldEncoder()
  /// The bytes not decoded yet.
  private var inbound = ByteBuffer()
  /// The streams with content to send, in turn.
  var sending = CircularBuffer<MultiplexStream>()
  /// The streams whose heads are in the buffer of ``writer``.
  var unflushed: [MultiplexStream] = []
  /// The streams whose last frames are in the buffer of ``writer``, and whose responses are complete.
  var finishing: [MultiplexStream] = []
  /// The number of bytes written to the channel.
  private(set) var written = 0
  /// The next measurement of unsent bytes, scheduled while there are any.
  var measurement: Scheduled<Void>?

  /// The time of the current event.
  var now = NIODeadline.now()
  private var isReading = false
  private var isFlushScheduled = false
  private var isFlushing = false
  private var isPaused = false
  /// The number of responses to SETTINGS and PING in the buffer of ``writer``.
  private var unsentReplies = 0
  private var isSuspended = false
  var alarm: (task: Scheduled<Void>, instant: NIODeadline)?
  var cause: (any Error)?
  /// The server's last GOAWAY with an error, for the texts of errors.
  var goAway: String?

  init(owner: any ConnectionOwner, limits: FrameReader.Limits, codingLimits: CodingLimits) {
    self.owner = owner
    framingLimits = limits.framing
    self.codingLimits = codingLimits
    reader = FrameReader(limits: limits)
  }

  // MARK: Events of the channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    writer.writePreface(
      settings: [
        Setting(.enablePush, 0), Setting(.initialWindowSize, UInt32(ReceiveWindow.initial)),
        Setting(.maximumFieldBytes, UInt32(clamping: framingLimits.fieldBytes)),
      ], windowIncrement: UInt32(ConnectionWindow.size - ConnectionWindow.initial))
    state.begun(now: now)
    flushSoon()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // A channel that was never active does not report that it became inactive.
    socketClosed()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !state.isOver else { return }
    var bytes = unwrapInboundIn(data)
    isReading = true
    now = .now()
    inbound.take(&bytes)
    if state.heard(now: now) { beginWaiting() }
    read()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    flush()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    now = .now()
    flush()
    setPaused(false)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The end of a response is in its frames, so a connection may end without TLS's close notification.
    if case .uncleanShutdown = error as? NIOSSLError { return }
    cause = cause ?? error
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    socketClosed()
  }

  // MARK: Frames

  private func read() {
    do throws(FrameViolation) {
      while !state.isOver, let event = try reader.next(from: &inbound) { try handle(event) }
    } catch {
      return violated(error)
    }
    // Releases the buffer, so that the channel can reuse it for the next read.
    if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    // A server that sends frames which need replies, and does not read the replies, is not read either. Other frames do
    // not count: the server may have to be read before it reads them.
    if unsentReplies > Self.replyLimit, context?.channel.isWritable == false { setPaused(true) }
  }

  /// The number of unsent replies above which reading pauses.
  private static let replyLimit = 4096

  private func handle(_ event: FrameEvent) throws(FrameViolation) {
    switch event {
    case .head(let stream, let block, let isLast): try receiveBlock(stream, block, isLast: isLast)
    case .content(let stream, let bytes, let padding, let isLast):
      try receiveContent(stream, bytes, padding: padding, isLast: isLast)
    case .malformed(let stream, let violation, _): try receiveMalformed(stream, violation)
    case .reset(let stream, let code): try receiveReset(stream, code)
    case .settings(let list): try receiveSettings(list)
    case .settingsAcknowledged: if state.settingsAcknowledged(now: now) { reader.frameWasAwaited() }
    case .ping(let data, isAcknowledgement: false):
      writer.writePing(data, isAcknowledgement: true)
      unsentReplies += 1
    case .ping(let data, isAcknowledgement: true): receivePingAcknowledgement(data)
    case .goAway(let last, let code, let debug): receiveGoAway(last: last, code, debug)
    case .windowUpdate(let stream, let increment): try receiveWindowUpdate(stream, Int(increment))
    }
  }

  /// Returns the stream that a frame belongs to; `nil` if the frame is to be ignored.
  ///
  /// - Throws: a connection error if the stream was never opened, or has ended and the frame's type is not permitted
  ///   after the end.
  func openStream(_ id: StreamID, for type: FrameType) throws(FrameViolation) -> MultiplexStream? {
    if let stream = streams[id], !stream.isClosed { return stream }
    switch state.standing(of: id) {
    case .idle: throw .idleStream(type, id)
    case .reset: return nil
    case .closed:
      guard type != .data, type != .headers else { throw .closedStream(type, id) }
      return nil
    }
  }

  private func receiveMalformed(_ id: StreamID, _ violation: FrameViolation) throws(FrameViolation) {
    // PRIORITY may have any stream, even one that was never opened.
    if case .wrongPriorityLength = violation {
      if let stream = streams[id], !stream.isClosed { fail(stream, violation) }
      return
    }
    if let stream = try openStream(id, for: .headers) { fail(stream, violation) }
  }

  private func receiveSettings(_ list: [Setting]) throws(FrameViolation) {
    let capacity = state.capacity
    let change = try state.receive(list)
    encoder.limitTable(to: state.settings.headerTableSize)
    writer.maximumFrameSize = state.settings.maximumFrameSize
    writer.writeSettingsAcknowledgement()
    unsentReplies += 1
    if change != 0 {
      for stream in streams.values where !stream.isClosed {
        guard stream.state.sendWindow.change(by: change) else { throw .windowOverflow(0) }
        send(stream)
      }
    }
    if state.capacity != capacity { capacityChanged() }
  }

  private func receivePingAcknowledgement(_ data: UInt64) {
    let capacity = state.capacity
    guard state.pingAcknowledged(data) else { return }
    reader.frameWasAwaited()
    if state.capacity != capacity { capacityChanged() }
    if let deadline = state.deadline { wake(by: deadline) }
  }

  private func receiveWindowUpdate(_ id: StreamID, _ increment: Int) throws(FrameViolation) {
    guard id != 0 else {
      guard increment > 0 else { throw .zeroIncrement(0) }
      guard state.sendWindow.change(by: increment) else { throw .windowOverflow(0) }
      return
    }
    guard let stream = try openStream(id, for: .windowUpdate) else { return }
    guard increment > 0 else { return fail(stream, .zeroIncrement(id)) }
    guard stream.state.sendWindow.change(by: increment) else { return fail(stream, .windowOverflow(id)) }
    send(stream)
  }

  private func receiveGoAway(last: StreamID, _ code: HTTP2ErrorCode, _ debug: String) {
    if code != .noError { goAway = "\(code)" + (debug.isEmpty ? "" : " (\(debug))") }
    state.drain(after: last)
    updateSuspension()
    report(code)
    // Streams above the last one were not processed (RFC 9113 §6.8); the others continue.
    for stream in sortedStreams() where stream.id > last && !stream.isClosed {
      leave(stream)
      sendAgain(stream, .unprocessed, "the server did not process the request (GOAWAY with \(code))")
    }
    returnWaiting()
    closeIfDrained()
  }

  /// Reports a code that says something about the origin.
  func report(_ code: HTTP2ErrorCode) {
    guard let connection else { return }
    if code == .enhanceYourCalm { owner.calm(connection.origin) }
    if code == .http11Required { owner.restrictToHTTP1(connection.origin) }
  }

  // MARK: Writing

  /// Writes the frames that were made once the current event has been handled.
  func flushSoon() {
    guard !isReading, !isFlushScheduled, let context else { return }
    isFlushScheduled = true
    context.eventLoop.assumeIsolated().execute {
      self.isFlushScheduled = false
      self.now = .now()
      self.flush()
    }
  }

  /// Writes the frames that were made, and content as far as the windows and the socket permit.
  func flush() {
    // Writing can change the channel's writability, which leads here again.
    guard !isFlushing else { return }
    isFlushing = true
    defer { isFlushing = false }
    while let context, context.channel.isWritable {
      let hasMore = writeContent()
      guard writer.buffer.readableBytes > 0 else { return }
      for stream in unflushed { stream.isFlushed = true }
      unflushed.removeAll(keepingCapacity: true)
      unsentReplies = 0
      written += writer.buffer.readableBytes
      context.writeAndFlush(wrapOutboundOut(writer.buffer), promise: promiseOfLastFrames(on: context.eventLoop))
      if writer.buffer.capacity > Self.keptCapacity { writer.buffer = ByteBuffer() } else { writer.buffer.clear() }
      if !hasMore { return }
    }
  }

  /// Returns a promise for a write that contains the last frames of requests whose responses are complete. Their
  /// exchanges end once the socket has accepted the frames, because the end of an exchange can close the connection.
  private func promiseOfLastFrames(on loop: any EventLoop) -> EventLoopPromise<Void>? {
    guard !finishing.isEmpty else { return nil }
    let streams = finishing
    finishing = []
    let promise = loop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenSuccess {
      // In an event of its own, because the write may succeed while it is being made.
      loop.assumeIsolated().execute {
        self.now = .now()
        for stream in streams where !stream.isGone { self.finishRequest(of: stream) }
      }
    }
    return promise
  }

  /// The maximum buffer capacity that a connection retains for its next frames.
  private static let keptCapacity = 32 << 10

  private func setPaused(_ isPaused: Bool) {
    guard isPaused != self.isPaused else { return }
    self.isPaused = isPaused
    try? context?.channel.syncOptions?.setOption(.autoRead, value: !isPaused)
  }

  // MARK: The owner

  /// Reports a changed capacity, and begins exchanges that wait if there is room for them.
  func capacityChanged() {
    guard let connection else { return }
    if state.streamLimit == 0 { returnWaiting() }
    owner.capacityChanged(of: connection, to: state.capacity)
    beginWaiting()
  }

  /// Reports that the connection is free for another exchange.
  func becameFree() {
    if let connection { owner.connectionBecameFree(connection, isSuspended: state.isSuspended) }
  }

  /// Reports whether the connection takes exchanges.
  func updateSuspension() {
    state.measureUnread()
    guard state.isSuspended != isSuspended, let connection else { return }
    isSuspended = state.isSuspended
    if isSuspended { owner.connectionSuspended(connection) } else { owner.connectionResumed(connection) }
  }

  // MARK: Timers

  /// Ensures that the timer rings at an instant, or earlier.
  func wake(by instant: NIODeadline) {
    if let alarm, alarm.instant <= instant { return }
    alarm?.task.cancel()
    guard let context else {
      alarm = nil
      return
    }
    let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: instant) { self.ring() }
    alarm = (task, instant)
  }

  private func ring() {
    alarm = nil
    now = .now()
    switch state.expired(now: now) {
    case .lost: return terminateSilent()
    case .ping(let data):
      writer.writePing(data, isAcknowledgement: false)
      flushSoon()
    case .nothing: break
    }
    for stream in sortedStreams() where !stream.isGone {
      if let deadline = stream.deadline, deadline <= now { timedOut(stream) }
    }
    let next = streams.values.compactMap(\.deadline).min()
    if let instant = [next, state.deadline].compactMap({ $0 }).min() { wake(by: instant) }
  }

  private func terminateSilent() {
    cause = nil
    goAway = "no bytes arrived within \(Duration(MultiplexState.answerLimit)) after PING"
    abort()
  }
}
