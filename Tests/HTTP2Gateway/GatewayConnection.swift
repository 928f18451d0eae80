import HTTPTypes
import NIOCore

@testable import ApusNIO

/// The handler of a client's connection: checks the client's frames, and carries each stream to the test server.
///
/// | the test server | the client |
/// |---|---|
/// | closes or resets the connection before the response or the request is complete | RST_STREAM with INTERNAL_ERROR |
/// | sends a malformed response | a malformed field section: a head without `:status`, or trailers with `:status` |
/// | sends `Connection: close` | GOAWAY before the response; the connection is closed after its last stream |
/// | sends nothing | nothing |
///
/// If the client resets a stream or closes its connection, the connections to the test server are closed.
final class GatewayConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The state of a stream that has ended.
  enum Ended {
    case byClient
    /// Frames that the client sent before it saw the reset are ignored.
    case byGateway
  }

  private static let streamLimit = 100
  static let streamWindow = 128 << 10
  /// So large that streams whose content the test server does not read cannot block other streams.
  private static let connectionWindow = 16 << 20

  let connection: Int
  let scheme: String
  let port: Int
  let record: GatewayRecord

  var context: ChannelHandlerContext?
  private var frames = ClientFrames()
  var writer = FrameWriter()
  private var settings = PeerSettings()
  private var awaitsAcknowledgement = true
  var streams: [StreamID: GatewayStream] = [:]
  private var ended: [StreamID: Ended] = [:]
  private var lastStream: StreamID = 0
  private var isLeaving = false
  private var isOver = false
  private var receiveWindow = GatewayConnection.connectionWindow
  private var returned = 0
  /// The number of content bytes that the gateway may send.
  var sendWindow = 65_535

  init(_ connection: Int, scheme: String, port: Int, record: GatewayRecord) {
    (self.connection, self.scheme, self.port, self.record) = (connection, scheme, port, record)
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func channelActive(context: ChannelHandlerContext) {
    writer.writeServerPreface(
      [
        Setting(.maximumStreams, UInt32(Self.streamLimit)), Setting(.initialWindowSize, UInt32(Self.streamWindow)),
      ], windowIncrement: UInt32(Self.connectionWindow - 65_535))
    flush()
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    frames.append(unwrapInboundIn(data))
    do throws(ClientViolation) {
      while !isOver, let frame = try frames.next() { try handle(frame) }
    } catch {
      fail(error)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flush()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    sendAll()
    flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    for stream in streams.values { stream.backend.close(afterWriting: false) }
    streams = [:]
    self.context = nil
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func fail(_ violation: ClientViolation) {
    record.add(violation, connection: connection)
    isOver = true
    writer.writeGoAway(last: lastStream, .protocolError, debug: violation.description)
    let sent = context?.eventLoop.makePromise(of: Void.self)
    let context = context
    sent?.futureResult.assumeIsolated().whenComplete { _ in context?.close(promise: nil) }
    context?.writeAndFlush(wrapOutboundOut(writer.buffer), promise: sent)
  }

  func flush() {
    guard !isOver, writer.buffer.readableBytes > 0 else { return }
    let bytes = writer.buffer
    writer.buffer = ByteBuffer()
    context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }

  // MARK: Frames of the client

  private func handle(_ frame: ClientFrame) throws(ClientViolation) {
    switch frame {
    case .head(let id, let block, let isLast): try take(block, id, isLast: isLast)
    case .content(let id, let bytes, let flow, let isLast): try take(bytes, id, flow: flow, isLast: isLast)
    case .reset(let id):
      guard let stream = try stream(id, .reset) else { return }
      end(stream, .byClient)
    case .settings(let changes): try take(changes)
    case .settingsAcknowledged:
      guard awaitsAcknowledgement else { throw ClientViolation("SETTINGS are acknowledged twice") }
      awaitsAcknowledgement = false
    case .ping(let data, let isAcknowledgement):
      guard !isAcknowledgement else { throw ClientViolation("the client acknowledges a PING that was not sent") }
      writer.writePing(data, isAcknowledgement: true)
    case .windowUpdate(let id, let increment): try enlarge(id, by: increment)
    }
  }

  /// Returns an open stream, or `nil` if the frame is ignored because the stream has ended.
  private func stream(_ id: StreamID, _ type: FrameType) throws(ClientViolation) -> GatewayStream? {
    if let stream = streams[id] { return stream }
    guard id <= lastStream || isLeaving else { throw ClientViolation("\(type) on the idle stream \(id)") }
    switch ended[id] {
    case .byGateway: return nil
    case .byClient: throw ClientViolation("\(type) follows RST_STREAM on stream \(id)")
    case nil:
      // The client may not have received the end of the stream.
      guard type == .reset || type == .windowUpdate || id > lastStream else {
        throw ClientViolation("\(type) on the closed stream \(id)")
      }
      return nil
    }
  }

  private func take(_ block: RequestBlock, _ id: StreamID, isLast: Bool) throws(ClientViolation) {
    guard id > lastStream else {
      guard let stream = try stream(id, .headers) else { return }
      let trailers = try block.trailers()
      guard isLast else { throw ClientViolation("trailers of stream \(id) do not end the stream") }
      try stream.receive(0, isLast: true)
      endRequest(of: stream, trailers)
      return
    }
    // The client learns from GOAWAY that the stream is not processed.
    if isLeaving { return }
    lastStream = id
    let head = try block.head(scheme: scheme)
    guard streams.count < Self.streamLimit else {
      guard awaitsAcknowledgement else { throw ClientViolation("stream \(id) exceeds MAX_CONCURRENT_STREAMS") }
      ended[id] = .byGateway
      return writer.writeReset(id, .refusedStream)
    }
    try open(id, head, isLast: isLast)
  }

  private func open(_ id: StreamID, _ head: RequestHead, isLast: Bool) throws(ClientViolation) {
    guard let loop = context?.eventLoop,
      let backend = try? Backend(of: id, method: head.method, owner: self, on: loop)
    else { return }
    let stream = GatewayStream(
      id, backend, of: head, windows: (Self.streamWindow, settings.initialWindowSize))
    streams[id] = stream
    try stream.receive(0, isLast: isLast)
    var bytes = ByteBuffer()
    head.write(into: &bytes, isChunked: stream.isChunked && !isLast, connection: connection)
    backend.write(bytes, content: 0)
  }

  private func take(_ bytes: ByteBuffer, _ id: StreamID, flow: Int, isLast: Bool) throws(ClientViolation) {
    receiveWindow -= flow
    guard receiveWindow >= 0 else { throw ClientViolation("DATA exceeds the connection's window") }
    guard let stream = try stream(id, .data) else { return giveBack(flow) }
    stream.receiveWindow -= flow
    guard stream.receiveWindow >= 0 else { throw ClientViolation("DATA exceeds the window of stream \(id)") }
    try stream.receive(bytes.readableBytes, isLast: isLast)
    let count = bytes.readableBytes
    stream.unwritten += flow
    wrote(flow - count, on: id)
    if count > 0 {
      var written = ByteBuffer()
      if stream.isChunked { written.writeString("\(String(count, radix: 16))\r\n") }
      written.writeImmutableBuffer(bytes)
      if stream.isChunked { written.writeString("\r\n") }
      stream.backend.write(written, content: count)
    }
    if isLast { endRequest(of: stream, []) }
  }

  private func endRequest(of stream: GatewayStream, _ trailers: [HTTPField]) {
    if stream.isChunked {
      var bytes = ByteBuffer(string: "0\r\n")
      for field in trailers { field.write(into: &bytes) }
      bytes.writeString("\r\n")
      stream.backend.write(bytes, content: 0)
    }
    if stream.hasResponse { end(stream, nil) }
  }

  private func take(_ changes: [Setting]) throws(ClientViolation) {
    let before = settings.initialWindowSize
    do throws(FrameViolation) {
      try settings.take(changes)
    } catch {
      throw ClientViolation("\(error)")
    }
    for stream in streams.values { stream.sendWindow += settings.initialWindowSize - before }
    writer.writeSettingsAcknowledgement()
    sendAll()
  }

  private func enlarge(_ id: StreamID, by increment: Int) throws(ClientViolation) {
    if id == 0 {
      sendWindow += increment
      guard sendWindow <= Int32.max else { throw ClientViolation("the connection's window overflows") }
      return sendAll()
    }
    guard let stream = try stream(id, .windowUpdate) else { return }
    stream.sendWindow += increment
    guard stream.sendWindow <= Int32.max else { throw ClientViolation("the window of stream \(id) overflows") }
    while send(stream) {}
  }

  // MARK: Windows for the client

  /// Returns content bytes to the connection's window.
  func giveBack(_ count: Int) {
    returned += count
    guard returned >= Self.connectionWindow / 8 else { return }
    receiveWindow += returned
    writer.writeWindowUpdate(0, increment: UInt32(returned))
    returned = 0
  }

  // MARK: Ends

  /// Ends a stream.
  ///
  /// - Parameter reason: `nil` if both sides have ended the stream.
  func end(_ stream: GatewayStream, _ reason: Ended?) {
    streams[stream.id] = nil
    ended[stream.id] = reason
    // Bounds the memory of long connections.
    if ended.count > 1000 { ended = ended.filter { $0.key + 4000 > lastStream } }
    giveBack(stream.unwritten)
    stream.backend.close(afterWriting: reason == nil)
    leaveIfIdle()
  }

  /// Announces that the connection ends after its open streams (RFC 9113 §6.8).
  func leave() {
    guard !isLeaving else { return }
    isLeaving = true
    writer.writeGoAway(last: lastStream, .noError)
  }

  private func leaveIfIdle() {
    guard isLeaving, streams.isEmpty, let context else { return }
    flush()
    // Closing both directions could reset the connection, and the client would lose the last response.
    context.close(mode: .output, promise: nil)
  }
}
