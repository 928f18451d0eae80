#if NIO
  import NIOCore

  /// What a new connection suffers before anything is read from it.
  final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let effect: Fault.Effect
    private let connection: Int
    private let recorder: Recorder
    /// Makes the connection one like any other.
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
        var wire = Wire(channel, connection: connection, recorder: recorder)
        guard await wire.take(steps) else { return channel.close(promise: nil) }
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
#endif
