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
    /// Told before the last bytes leave whether they are all that was written so far.
    private let onCut: (_ isWhole: Bool) -> Void

    init(after length: Int, of channel: any Channel, onCut: @escaping (_ isWhole: Bool) -> Void) {
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
      onCut(isWhole)
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
