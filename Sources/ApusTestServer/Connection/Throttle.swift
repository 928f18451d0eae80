#if NIO
  import NIOCore

  /// Reads and sends at most so many bytes in each interval.
  final class Throttle: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let length: Int
    private let interval: TimeAmount
    private var queue: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    /// Waits for everything queued to leave.
    private var ending: [EventLoopPromise<Void>?] = []
    private var sending: Scheduled<Void>?
    private var reading: Scheduled<Void>?
    private var wantsRead = false

    init(bytes: Int, every interval: TimeAmount) {
      self.length = max(1, bytes)
      self.interval = interval
    }

    // MARK: Sending

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      queue.append((unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) {
      if sending == nil { send(context) }
    }

    private func send(_ context: ChannelHandlerContext) {
      sending = nil
      guard !queue.isEmpty else {
        for promise in ending { context.close(mode: .output, promise: promise) }
        ending = []
        return
      }
      let piece = queue[0].bytes.readSlice(length: min(length, queue[0].bytes.readableBytes)) ?? ByteBuffer()
      let isLast = queue[0].bytes.readableBytes == 0
      let promise = isLast ? queue.removeFirst().promise : nil
      sending = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.send(context) }
      context.writeAndFlush(wrapOutboundOut(piece), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      if mode == .output, !queue.isEmpty { ending.append(promise) } else { context.close(mode: mode, promise: promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      sending?.cancel()
      reading?.cancel()
      for promise in queue.map({ $0.promise }) + ending { promise?.fail(ChannelError.ioOnClosedChannel) }
      (queue, ending) = ([], [])
    }

    // MARK: Reading

    func read(context: ChannelHandlerContext) {
      guard reading == nil else {
        wantsRead = true
        return
      }
      reading = context.eventLoop.assumeIsolated().scheduleTask(in: interval) {
        self.reading = nil
        guard self.wantsRead else { return }
        self.wantsRead = false
        self.read(context: context)
      }
      context.read()
    }
  }
#endif
