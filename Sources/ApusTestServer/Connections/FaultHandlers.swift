import NIOCore

/// A handler that performs a fault on a new connection before anything is read, and then adds the connection's
/// handlers.
final class ConnectFault: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let effect: Fault.Effect
  private let connection: Int
  private let recorder: Recorder
  private let setUp: @Sendable (any Channel) throws -> Void
  private var fault: Task<Void, Never>?

  init(
    _ effect: Fault.Effect, connection: Int, recorder: Recorder,
    setUp: @escaping @Sendable (any Channel) throws -> Void
  ) {
    self.effect = effect
    self.connection = connection
    self.recorder = recorder
    self.setUp = setUp
  }

  func channelActive(context: ChannelHandlerContext) {
    let (channel, steps) = (context.channel, effect.steps(at: .connect))
    fault = Task { [connection, recorder, setUp] in
      var driver = ConnectionDriver(channel, connection: connection, recorder: recorder)
      guard await driver.perform(steps) else { return channel.close(promise: nil) }
      channel.eventLoop.execute {
        guard channel.isActive else { return }
        do {
          try setUp(channel)
          try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
          recorder.failed(error, connection: connection)
          channel.close(promise: nil)
        }
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fault?.cancel()
    context.fireChannelInactive()
  }
}

/// A handler that reads and sends at most a given number of bytes in each interval.
final class Throttle: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let length: Int
  private let interval: TimeAmount
  private var queue: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  /// Requests to close the sending side once everything queued is sent.
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

/// A handler that sends a given number of bytes and then cuts the connection.
final class Truncation: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The error of written bytes that were not sent completely.
  struct Cut: Error {}

  private var rest: Int
  private var isCut = false
  private let channel: any Channel
  /// Called before the last bytes are sent. `isWhole` states whether every byte written so far is sent.
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
    // Called before the last bytes are sent, so that the end is recorded when the client has read them.
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
