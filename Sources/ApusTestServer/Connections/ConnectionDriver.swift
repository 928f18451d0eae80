import NIOCore
import NIOHTTP1
import NIOSSL

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A driver of a connection that performs the reply steps that do not depend on the response.
struct ConnectionDriver {
  /// The maximum number of bytes of one write to the connection.
  static let blockLength = 1 << 16

  private let channel: any Channel
  /// The connection's number.
  private let connection: Int
  private let recorder: Recorder
  /// The bytes that are not sent yet.
  private var pending = ByteBuffer()

  init(_ channel: any Channel, connection: Int, recorder: Recorder) {
    self.channel = channel
    self.connection = connection
    self.recorder = recorder
  }

  /// Performs the steps of a fault and returns whether the connection continues.
  mutating func perform(_ steps: [Reply.Step]) async -> Bool {
    do {
      for step in steps {
        guard try await perform(step) else { return false }
      }
      try await flush()
      return true
    } catch {
      return false
    }
  }

  /// Performs a step and returns whether the connection continues. Steps of a response do nothing here.
  mutating func perform(_ step: Reply.Step) async throws -> Bool {
    switch step {
    case .wait(let gate):
      try await flush()
      try await gate.wait()
    case .pause(let time):
      try await flush()
      try await Task.sleep(for: time)
    case .stall:
      try await flush()
      try await Gate().wait()
    case .interim(let status, let fields):
      writeHead(status, fields)
    case .raw(let bytes):
      try await write(bytes)
    case .reading(let reads):
      try await channel.setOption(.autoRead, value: reads).get()
    case .throttle(let bytes, let interval):
      try await throttle(to: bytes, every: interval)
    case .truncate(let length):
      try await flush()
      guard length > 0 else { return try await end(with: .cut) }
      try await insert { [channel, connection, recorder] in
        Truncation(after: length, of: channel) { isWhole in
          if isWhole { recorder.ended(connection, .serverClosed) } else { recorder.cut(connection) }
        }
      }
    case .close, .cut, .halfClose, .reset:
      return try await end(with: step)
    case .head, .content, .generated, .framing, .lastChunk:
      break
    }
    return true
  }

  // MARK: Sending

  mutating func writeHead(_ status: Int, _ fields: FieldLines) {
    let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
    pending.writeString("HTTP/1.1 \(status) \(phrase)\r\n" + fields.wireFormat + "\r\n")
  }

  mutating func write(_ bytes: [UInt8]) async throws {
    for start in stride(from: 0, to: bytes.count, by: Self.blockLength) {
      try await makeRoom()
      pending.writeBytes(bytes[start..<min(start + Self.blockLength, bytes.count)])
    }
  }

  mutating func write(_ bytes: ByteBuffer) async throws {
    try await makeRoom()
    pending.writeImmutableBuffer(bytes)
  }

  /// Sends a full buffer and waits until it was sent, so that writing is no faster than the client reads.
  private mutating func makeRoom() async throws {
    if pending.readableBytes >= Self.blockLength { try await flush() }
  }

  mutating func flush() async throws {
    guard pending.readableBytes > 0 else { return }
    let bytes = pending
    pending = ByteBuffer()
    try await channel.writeAndFlush(bytes).get()
  }

  // MARK: Ending

  private mutating func end(with step: Reply.Step) async throws -> Bool {
    try await flush()
    if case .reset = step {
      recorder.ended(connection, .serverReset)
    } else {
      recorder.ended(connection, .serverClosed)
    }
    switch step {
    case .cut: try await channel.closeSocket().get()
    case .halfClose:
      // Continues to read, because unread bytes would turn the close into a reset.
      try await channel.setOption(.autoRead, value: true).get()
      try await channel.close(mode: .output).get()
      try await channel.closeFuture.get()
    case .reset:
      // With this option the operating system sends RST instead of FIN.
      try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      try await channel.closeSocket().get()
    default: try await channel.close().get()
    }
    return false
  }

  // MARK: Throttling

  private mutating func throttle(to bytes: Int, every interval: Duration) async throws {
    try await flush()
    try await insert { Throttle(bytes: bytes, every: TimeAmount(interval)) }
    // Limits the size of a single read as well.
    try await channel.setOption(.maxMessagesPerRead, value: 1).get()
    try await channel.setOption(
      .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: max(1, bytes))
    ).get()
  }

  /// Inserts a handler between the connection handler and TLS or the socket.
  private func insert(_ handler: @escaping @Sendable () -> any ChannelHandler) async throws {
    try await channel.eventLoop.submit { [channel] in
      let operations = channel.pipeline.syncOperations
      if let connection = try? operations.handler(type: ConnectionHandler.self) {
        try operations.addHandler(handler(), position: .before(connection))
      } else {
        try operations.addHandler(handler())
      }
    }.get()
  }
}

extension Channel {
  /// Closes the connection without sending close_notify.
  func closeSocket() -> EventLoopFuture<Void> {
    eventLoop.flatSubmit {
      let operations = self.pipeline.syncOperations
      guard let tls = try? operations.context(handlerType: NIOSSLServerHandler.self) else { return self.close() }
      return tls.close()
    }
  }
}
