#if NIO
  import NIOCore

  /// Lets so many bytes through, and then cuts the connection.
  final class Truncation: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Some of what was written did not leave.
    struct Cut: Error {}

    private var rest: Int
    private var isCut = false
    private let channel: any Channel
    private let onCut: () -> Void

    init(after length: Int, of channel: any Channel, onCut: @escaping () -> Void) {
      self.rest = length
      self.channel = channel
      self.onCut = onCut
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard !isCut else {
        promise?.fail(Cut())
        return
      }
      var bytes = unwrapOutboundIn(data)
      guard bytes.readableBytes >= rest else {
        rest -= bytes.readableBytes
        return context.write(data, promise: promise)
      }
      isCut = true
      let isWhole = bytes.readableBytes == rest
      // Whoever reads the last byte finds the end recorded.
      if !isWhole { onCut() }
      guard let last = bytes.readSlice(length: rest) else { return }
      let left = context.eventLoop.makePromise(of: Void.self)
      context.writeAndFlush(wrapOutboundOut(last), promise: left)
      left.futureResult.whenComplete { [channel] result in
        channel.closeSocket().whenComplete { _ in
          promise?.completeWith(isWhole ? result : .failure(Cut()))
        }
      }
    }
  }
#endif
