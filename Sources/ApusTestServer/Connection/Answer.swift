#if NIO
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

  /// One reply on its way: takes its steps in order, and knows whether the answer is complete by them.
  struct Answer {
    private enum Framing {
      /// No head was sent.
      case none
      case counted(Int)
      case chunked
      case untilClose
    }

    /// The most bytes given to the connection at once.
    private static let blockLength = 1 << 16

    private let channel: any Channel
    private let recorder: Recorder
    private let request: RecordedRequest
    private var pending = ByteBuffer()
    private var framing = Framing.none
    private var isComplete = false
    private var contentSent = 0
    private var announcesClose = false
    /// Whether raw bytes were sent, which may be an answer for all the server knows.
    private var hasRaw = false

    init(to request: RecordedRequest, on channel: any Channel, recorder: Recorder) {
      self.request = request
      self.channel = channel
      self.recorder = recorder
    }

    /// Answers, and returns whether the connection can be used for the next exchange.
    mutating func give(_ reply: Reply) async -> Bool {
      do {
        for step in reply.steps {
          switch step {
          case .close:
            try await finish()
            try await channel.close().get()
            return false
          case .cut:
            try await finish()
            try await channel.closeSocket().get()
            return false
          case .reset:
            try await flush()
            recorder.finish(request.number, .serverReset)
            try await reset()
            return false
          default:
            try await take(step)
          }
        }
        try await finish()
      } catch {
        // The client left, or the server was shut down: the end of the connection has told the recorder, or will.
        recorder.settle(request.number, failed: true)
        return false
      }
      return isComplete && isDelimited && !announcesClose && request.keepsAlive
    }

    private mutating func take(_ step: Reply.Step) async throws {
      let isHead = request.method == "HEAD"
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
      case .head(let status, let fields):
        begin(status, fields)
      case .content(let bytes) where !isHead:
        try await write(bytes)
      case .generated(let pattern, let range) where !isHead:
        try await write(pattern, range)
      case .framing(let bytes) where !isHead:
        pending.writeBytes(bytes)
      case .lastChunk(let trailers) where !isHead:
        pending.writeString("0\r\n" + trailers.wireFormat + "\r\n")
        isComplete = true
      case .raw(let bytes):
        pending.writeBytes(bytes)
        hasRaw = true
      case .reading(let reads):
        try await channel.setOption(.autoRead, value: reads).get()
      case .content, .generated, .framing, .lastChunk, .close, .cut, .reset:
        break
      }
    }

    /// Whether the client can tell where the answer ends, other than by the connection's end.
    private var isDelimited: Bool {
      switch framing {
      case .none, .untilClose: false
      case .counted, .chunked: true
      }
    }

    // MARK: Head

    private mutating func begin(_ status: Int, _ fields: FieldLines) {
      recorder.sentStatus(status, of: request.number)
      writeHead(status, fields)
      announcesClose = fields.contains("close", in: "Connection")
      if request.method == "HEAD" || status == 204 || status == 304 {
        framing = .counted(0)
      } else if fields.contains("chunked", in: "Transfer-Encoding") {
        framing = .chunked
      } else if let length = fields["Content-Length"].flatMap({ Int($0) }) {
        framing = .counted(length)
      } else {
        framing = .untilClose
      }
    }

    private mutating func writeHead(_ status: Int, _ fields: FieldLines) {
      let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
      pending.writeString("HTTP/1.1 \(status) \(phrase)\r\n" + fields.wireFormat + "\r\n")
    }

    // MARK: Content

    private mutating func write(_ bytes: [UInt8]) async throws {
      for start in stride(from: 0, to: bytes.count, by: Self.blockLength) {
        try await makeRoom()
        pending.writeBytes(bytes[start..<min(start + Self.blockLength, bytes.count)])
      }
      contentSent += bytes.count
    }

    private mutating func write(_ pattern: ContentPattern, _ range: Range<Int>) async throws {
      let block = ByteBuffer(bytes: pattern.block(atLeast: Self.blockLength + pattern.unit.count))
      var offset = range.lowerBound
      while offset < range.upperBound {
        try await makeRoom()
        let length = min(Self.blockLength, range.upperBound - offset)
        let slice = block.getSlice(at: offset % pattern.unit.count, length: length)
        if let slice { pending.writeImmutableBuffer(slice) }
        offset += length
      }
      contentSent += range.count
    }

    /// Sends what is pending once it is a block, and waits until it has left: the client's reading sets the pace.
    private mutating func makeRoom() async throws {
      if pending.readableBytes >= Self.blockLength { try await flush() }
    }

    // MARK: Ending

    /// Records the outcome, then sends the last bytes: a client that has read them finds the exchange finished, and
    /// its next request is never counted as being in flight beside this one.
    private mutating func finish() async throws {
      switch framing {
      case .none: isComplete = hasRaw
      case .counted(let length): isComplete = contentSent >= length
      case .chunked: break
      case .untilClose: isComplete = true
      }
      recorder.finish(request.number, isComplete ? .answered : .serverClosed)
      try await flush()
      recorder.settle(request.number, failed: false)
    }

    private mutating func flush() async throws {
      guard pending.readableBytes > 0 else { return }
      let bytes = pending
      pending = ByteBuffer()
      try await channel.writeAndFlush(bytes).get()
    }

    /// Closes so that the client gets RST in place of FIN.
    private func reset() async throws {
      try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      try await channel.closeSocket().get()
    }
  }

  extension Channel {
    /// Closes without TLS's farewell.
    fileprivate func closeSocket() -> EventLoopFuture<Void> {
      eventLoop.flatSubmit {
        let operations = self.pipeline.syncOperations
        guard let tls = try? operations.context(handlerType: NIOSSLServerHandler.self) else { return self.close() }
        return tls.close()
      }
    }
  }

  extension FieldLines {
    /// The lines as on the wire, nothing checked.
    fileprivate var wireFormat: String { map { "\($0)\r\n" }.joined() }
  }
#endif
