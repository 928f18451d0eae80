import NIOCore
import NIOPosix

/// A raw connection to the backend. A full HTTP client would hide details of the server's behavior.
struct Wire {
  private var input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private let output: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var buffer = ByteBuffer()

  /// The error that the server closed the connection before the end of a response.
  struct Closed: Error {}

  /// Opens a connection, and closes it when the closure returns.
  static func open<Value: Sendable>(
    _ port: Int, _ body: (inout Wire) async throws -> Value
  ) async throws -> Value {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { input, output in
      var wire = Wire(input: input.makeAsyncIterator(), output: output)
      return try await body(&wire)
    }
  }

  private init(
    input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator, output: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) {
    self.input = input
    self.output = output
  }

  func send(_ bytes: [UInt8]) async throws {
    try await output.write(ByteBuffer(bytes: bytes))
  }

  func send(_ text: String) async throws {
    try await output.write(ByteBuffer(string: text))
  }

  /// Reads a response.
  mutating func answer(toHead: Bool = false) async throws -> Answer {
    let head = try await text(through: "\r\n\r\n")
    var answer = try Answer(head: head)
    if toHead || answer.status == 204 || answer.status == 304 { return answer }
    if let length = answer["content-length"].flatMap(Int.init) {
      answer.content = try await bytes(length)
    } else {
      answer.content = try await chunks()
    }
    return answer
  }

  /// Reads until the server closes the connection.
  mutating func drain() async throws {
    while try await input.next(isolation: #isolation) != nil {}
  }

  private mutating func chunks() async throws -> [UInt8] {
    var content: [UInt8] = []
    while true {
      // CR LF is a single character in Swift.
      guard let size = Int(try await text(through: "\r\n").dropLast(), radix: 16) else { throw Closed() }
      content += try await bytes(size)
      _ = try await bytes(2)
      if size == 0 { return content }
    }
  }

  private mutating func bytes(_ count: Int) async throws -> [UInt8] {
    while buffer.readableBytes < count { try await more() }
    return buffer.readBytes(length: count) ?? []
  }

  /// Reads up to and including a text.
  mutating func text(through end: String) async throws -> String {
    let end = Array(end.utf8)
    while true {
      let view = buffer.readableBytesView
      if let range = view.firstRange(of: end) {
        return String(decoding: try await bytes(range.upperBound - view.startIndex), as: UTF8.self)
      }
      try await more()
    }
  }

  private mutating func more() async throws {
    guard var next = try await input.next(isolation: #isolation) else { throw Closed() }
    buffer.writeBuffer(&next)
  }
}
