import NIOCore

/// A writer of one reply: performs its steps in order and tracks whether they make a complete response.
struct ResponseWriter {
  private enum Framing {
    /// No head has been sent.
    case none
    case counted(Int)
    case chunked
    case untilClose
  }

  private let recorder: Recorder
  private let request: RecordedRequest
  private var driver: ConnectionDriver
  private var framing = Framing.none
  private var isComplete = false
  private var contentSent = 0
  private var announcesClose = false
  /// Whether raw bytes were sent. Raw bytes are treated as a complete response.
  private var hasRaw = false

  init(to request: RecordedRequest, on channel: any Channel, recorder: Recorder) {
    self.request = request
    self.recorder = recorder
    driver = ConnectionDriver(channel, connection: request.connection, recorder: recorder)
  }

  /// Sends a reply and returns whether the connection can be used for the next exchange.
  mutating func send(_ reply: Reply) async -> Bool {
    do {
      for step in reply.steps {
        switch step {
        case .close, .cut, .halfClose, .truncate(after: ...0): try await finish()
        default: try await perform(step)
        }
        guard try await driver.perform(step) else { return false }
      }
      try await finish()
    } catch {
      // The client disconnected, the server was shut down or the connection was cut. The connection's end is recorded
      // elsewhere.
      recorder.finalize(request.number, failure: error is Truncation.Cut ? .serverClosed : .clientClosed)
      return false
    }
    return isComplete && isDelimited && !announcesClose && request.keepsAlive
  }

  /// Performs the steps of a response. The driver ignores these steps.
  private mutating func perform(_ step: Reply.Step) async throws {
    let isHead = request.method == "HEAD"
    switch step {
    case .head(let status, let fields):
      writeHead(status, fields)
    case .content(let bytes) where !isHead:
      try await driver.write(bytes)
      contentSent += bytes.count
    case .generated(let pattern, let range) where !isHead:
      try await write(pattern, range)
    case .framing(let bytes) where !isHead:
      try await driver.write(bytes)
    case .lastChunk(let trailers) where !isHead:
      try await driver.write(Array(("0\r\n" + trailers.wireFormat + "\r\n").utf8))
      isComplete = true
    case .raw:
      hasRaw = true
    default:
      break
    }
  }

  /// Whether the client can detect the end of the response without the end of the connection.
  private var isDelimited: Bool {
    switch framing {
    case .none, .untilClose: false
    case .counted, .chunked: true
    }
  }

  private mutating func writeHead(_ status: Int, _ fields: FieldLines) {
    recorder.sentStatus(status, of: request.number)
    driver.writeHead(status, fields)
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

  private mutating func write(_ pattern: ContentPattern, _ range: Range<Int>) async throws {
    let block = ByteBuffer(bytes: pattern.block(atLeast: ConnectionDriver.blockLength + pattern.unit.count))
    var offset = range.lowerBound
    while offset < range.upperBound {
      let length = min(ConnectionDriver.blockLength, range.upperBound - offset)
      if let slice = block.getSlice(at: offset % pattern.unit.count, length: length) { try await driver.write(slice) }
      offset += length
    }
    contentSent += range.count
  }

  /// Records the outcome, then sends the last bytes. So the exchange has ended when the client has read them, and is
  /// never in flight at the same time as the client's next request.
  private mutating func finish() async throws {
    switch framing {
    case .none: isComplete = hasRaw
    case .counted(let length): isComplete = contentSent >= length
    case .chunked: break
    case .untilClose: isComplete = true
    }
    recorder.finish(request.number, isComplete ? .replied : .serverClosed)
    try await driver.flush()
    recorder.finalize(request.number, failure: nil)
  }
}
