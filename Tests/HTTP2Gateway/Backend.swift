import HTTPTypes
import NIOCore
import NIOPosix

@testable import ApusNIO

/// The HTTP/1.1 connection to the test server of one stream.
final class Backend: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private let stream: StreamID
  private var owner: GatewayConnection?
  private var context: ChannelHandlerContext?
  private var decoder: ResponseDecoder
  private var input = ByteBuffer()
  private var hasResponse = false
  private var isReadHeld = false
  private var isClosing = false
  /// The bytes of the request that await the connection, with the number of content bytes in them.
  private var unsent: (bytes: ByteBuffer, content: Int) = (ByteBuffer(), 0)

  /// Limits that are wider than every client's, so that a client must apply its own.
  private static let limits = {
    var limits = FramingLimits()
    (limits.fieldBytes, limits.fieldCount, limits.interimCount) = (16 << 20, 60_000, .max)
    return limits
  }()

  /// Creates a backend and connects to the test server.
  init(of stream: StreamID, method: String, owner: GatewayConnection, on loop: any EventLoop) throws {
    (self.stream, self.owner) = (stream, owner)
    decoder = ResponseDecoder(limits: Self.limits)
    decoder.expectResponse(to: HTTPRequest.Method(method) ?? .get)
    let handler = NIOLoopBound(self, eventLoop: loop)
    try ClientBootstrap(group: loop)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
      }
      .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: owner.port))
      .assumeIsolated().whenFailure { _ in self.end() }
  }

  /// Writes bytes of the request, of which `content` bytes count towards the flow-control windows.
  func write(_ bytes: ByteBuffer, content: Int) {
    guard let context else {
      unsent.bytes.writeImmutableBuffer(bytes)
      unsent.content += content
      return
    }
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenSuccess { self.owner?.wrote(content, on: self.stream) }
    context.writeAndFlush(NIOAny(bytes), promise: sent)
  }

  /// Continues to read if reading was held.
  func resume() {
    guard isReadHeld, owner?.mayRead(stream) == true else { return }
    isReadHeld = false
    context?.read()
  }

  /// Closes the connection. The owner receives no further events.
  ///
  /// - Parameter afterWriting: whether to close once all bytes of the request are written.
  func close(afterWriting: Bool) {
    (owner, isClosing) = (nil, true)
    guard let context else { return }
    guard afterWriting else { return context.close(promise: nil) }
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
  }

  // MARK: Channel

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    if unsent.bytes.readableBytes > 0 { write(unsent.bytes, content: unsent.content) }
    unsent = (ByteBuffer(), 0)
    if isClosing { close(afterWriting: true) }
  }

  func read(context: ChannelHandlerContext) {
    guard owner?.mayRead(stream) ?? true else {
      isReadHeld = true
      return
    }
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    input.writeBuffer(&bytes)
    do throws(FramingError) {
      while !hasResponse, let part = try decoder.next(from: &input) { deliver(part) }
    } catch {
      hasResponse = true
      owner?.failed(error, on: stream)
    }
    // The test server may send any bytes after a response; they belong to no stream.
    if hasResponse { input.clear() }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    owner?.endedReading(on: stream)
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    end()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func deliver(_ part: DecodedPart) {
    if case .end = part { hasResponse = true }
    owner?.received(part, on: stream)
  }

  /// Ends the stream because the connection is closed.
  private func end() {
    // The owner closes the backend of a stream that it resets.
    guard let owner else { return }
    do throws(FramingError) {
      if !hasResponse, let part = try decoder.endOfInput(cleanly: true) { deliver(part) }
      owner.failed(FramingError(.truncated, "the connection closed"), on: stream)
    } catch {
      owner.failed(error, on: stream)
    }
    owner.endedReading(on: stream)
    self.owner = nil
  }
}
