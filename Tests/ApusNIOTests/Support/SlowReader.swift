import NIOCore
import NIOPosix
import Synchronization

/// A server that reads one request per connection at a steady pace, and responds after the request content.
final class SlowReader: Sendable {
  struct Pace: Sendable {
    /// The bytes per read.
    var length = 4 << 10
    /// The time between two reads; `nil` if the server stops reading after the first read.
    var interval: TimeAmount?
    /// The size of the system's receive buffer; `nil`: the system's default.
    var buffer: Int?
    /// The bytes sent as soon as the first bytes of the request have arrived.
    var greeting = ""
    /// The number of request bytes after which the response is sent.
    var expected = Int.max
    var answer = ""
  }

  let port: Int

  private init(port: Int) {
    self.port = port
  }

  /// The open connections, closed at the end: a connection that is not read would never detect that its client has
  /// closed.
  private final class Connections: Sendable {
    private let all = Mutex<[any Channel]>([])

    func add(_ channel: any Channel) { all.withLock { $0.append(channel) } }

    func close(_ listener: any Channel) async throws {
      try await listener.close().get()
      for channel in all.withLock({ $0 }) { try? await channel.close().get() }
    }
  }

  static func with<Result>(_ pace: Pace, body: (SlowReader) async throws -> Result) async throws -> Result {
    let connections = Connections()
    var bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: pace.length))
      .childChannelInitializer { channel in
        connections.add(channel)
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Reader(pace))
        }
      }
    // Accepted connections inherit the buffer size from the listener, before they announce their windows.
    if let buffer = pace.buffer {
      bootstrap = bootstrap.serverChannelOption(.socketOption(.so_rcvbuf), value: .init(buffer))
    }
    let listener = try await bootstrap.bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
    guard let port = listener.localAddress?.port else { throw Unexpected() }
    do {
      let result = try await body(SlowReader(port: port))
      try await connections.close(listener)
      return result
    } catch {
      try await connections.close(listener)
      throw error
    }
  }
}

private final class Reader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let pace: SlowReader.Pace
  private var count = 0
  private var isAnswered = false

  init(_ pace: SlowReader.Pace) {
    self.pace = pace
  }

  func channelActive(context: ChannelHandlerContext) {
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if count == 0, !pace.greeting.isEmpty { say(pace.greeting, context) }
    count += unwrapInboundIn(data).readableBytes
    if count >= pace.expected, !isAnswered {
      isAnswered = true
      say(pace.answer, context)
    }
    guard let interval = pace.interval else { return }
    let context = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.value.eventLoop.scheduleTask(in: interval) {
      if context.value.channel.isActive { context.value.read() }
    }
  }

  private func say(_ text: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
  }
}
