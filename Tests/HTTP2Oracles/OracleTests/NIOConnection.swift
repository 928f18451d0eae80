import NIOCore
import NIOEmbedded
import NIOHTTP2

/// One end of a connection of NIOHTTP2, without socket.
struct NIOConnection {
  /// A handler that keeps the received frames, and whether there was an error.
  private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    var seen = SeenFrames()
    var errors: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { seen.receive(unwrapInboundIn(data)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      seen.isRefused = true
      errors.append("\(error)")
    }
  }

  private let channel: EmbeddedChannel
  private let recorder = Recorder()

  init(_ mode: NIOHTTP2Handler.ParserMode) throws {
    var (connection, stream) = (NIOHTTP2Handler.ConnectionConfiguration(), NIOHTTP2Handler.StreamConfiguration())
    connection.initialSettings = [
      HTTP2Setting(parameter: .initialWindowSize, value: 1 << 30),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 1 << 20),
    ]
    if mode == .client { connection.initialSettings.append(HTTP2Setting(parameter: .enablePush, value: 0)) }
    connection.contentLengthValidation = .disabled
    // Limits against floods, which a comparison of valid frames must not reach.
    connection.maximumSequentialEmptyDataFrames = 10_000
    connection.maximumSequentialContinuationFrames = 10_000
    connection.controlFrameRateLimit.maximumCount = 10_000
    stream.streamResetFrameRateLimit.maximumCount = 10_000
    channel = EmbeddedChannel(handlers: [
      NIOHTTP2Handler(mode: mode, connectionConfiguration: connection, streamConfiguration: stream), recorder,
    ])
    channel.connect(to: try SocketAddress(unixDomainSocketPath: "/none"), promise: nil)
    try send(HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: 1 << 30)))
  }

  var seen: SeenFrames { recorder.seen }
  var errors: [String] { recorder.errors }

  /// Receives bytes in pieces that end at `cuts`.
  func receive(_ bytes: [UInt8], cuts: [Int]) throws {
    var start = 0
    for cut in cuts + [bytes.count] {
      try channel.writeInbound(ByteBuffer(bytes: bytes[start..<cut]))
      start = cut
    }
  }

  func send(_ frame: HTTP2Frame) throws {
    try channel.writeOutbound(frame)
  }
}
