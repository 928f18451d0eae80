import HTTPTypes
import NIOCore

/// A strict decoder of HTTP/1.1 responses (RFC 9112): a pure value without channel, clock or lock.
///
/// Decodes one response at a time: ``expectResponse(to:)``; then, with the bytes of each read, ``next(from:)``
/// until it returns `nil`; ``endOfInput(cleanly:)`` once the connection has closed. The parts do not depend on how
/// the bytes were split, except for where content is cut. An incomplete line stays in the buffer.
///
/// Where RFC 9112 leaves a choice, the decoder refuses everything that two recipients could read differently: bare LF,
/// folded lines, transfer codings other than `chunked`, both kinds of framing together. After an error neither the
/// decoder nor the connection can be used again.
struct ResponseDecoder: Sendable {
  private enum Phase: Sendable, Hashable {
    /// No response is expected.
    case idle
    case statusLine
    case fields
    case content
    case chunkLine
    case chunkContent
    case chunkEnd
    case trailers
    case untilClose
    /// The whole response has arrived, but ``DecodedPart/end(trailers:canReuse:)`` was not returned yet.
    case complete
    /// The connection has closed.
    case closed
  }

  private let limits: FramingLimits
  private var phase = Phase.idle
  private var failure: FramingError?
  private var lines = LineScanner()
  private var budget: FramingBudget
  private var section = FieldSection()
  private var statusLine: StatusLine?
  private var trailers = HTTPFields()
  /// The number of remaining bytes of the content or of the current chunk.
  private var remaining: Int64 = 0
  /// The number of bytes by which the first lines of chunks exceed their allowance.
  private var overhead: Int64 = 0
  private var isResponseToHead = false
  private var isResponseToConnect = false
  /// Whether a byte of the response has arrived.
  private var hasBegun = false
  private var canReuse = false

  init(limits: FramingLimits = FramingLimits()) {
    self.limits = limits
    budget = FramingBudget(limits)
  }

  /// Prepares for the response to a request that is about to be written. The method decides whether the response has
  /// content (RFC 9110 §6.4.1).
  mutating func expectResponse(to method: HTTPRequest.Method) {
    guard phase == .idle else {
      failure = failure ?? FramingError(.outOfOrder, "the connection carries another exchange, or has ended")
      return
    }
    phase = .statusLine
    budget = FramingBudget(limits)
    isResponseToHead = method == .head
    isResponseToConnect = method == .connect
    hasBegun = false
    overhead = 0
    trailers = HTTPFields()
  }

  /// Returns the next part and consumes its bytes; `nil` if more bytes are needed.
  mutating func next(from buffer: inout ByteBuffer) throws(FramingError) -> DecodedPart? {
    if let failure { throw failure }
    do throws(FramingError) {
      return try step(&buffer)
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the input because the connection closed. Call it once ``next(from:)`` has returned `nil`.
  ///
  /// - Parameter cleanly: `false` if TLS sent no close notification (RFC 9112 §9.8).
  /// - Returns: the end of the response if the close of the connection marks it; `nil` if no response was expected.
  mutating func endOfInput(cleanly: Bool) throws(FramingError) -> DecodedPart? {
    if let failure { throw failure }
    let last = phase
    phase = .closed
    switch last {
    case .idle, .closed: return nil
    case .complete: return .end(trailers: trailers, canReuse: false)
    case .untilClose where cleanly: return .end(trailers: [:], canReuse: false)
    case .untilClose: failure = FramingError(.uncleanEnd, "the connection closed without TLS's close notification")
    case .statusLine where !hasBegun: failure = FramingError(.noResponse, "the connection closed before the response")
    default: failure = FramingError(.truncated, "the connection closed inside the response's \(last)")
    }
    if let failure { throw failure }
    return nil
  }

  private mutating func step(_ buffer: inout ByteBuffer) throws(FramingError) -> DecodedPart? {
    while true {
      if phase == .complete { return end(leaving: buffer) }
      guard buffer.readableBytes > 0 else { return nil }
      hasBegun = true
      switch phase {
      case .statusLine, .fields:
        guard try readLines(of: &buffer) else { return nil }
        return try finishHead()
      case .content:
        return readContent(of: &buffer, then: .complete)
      case .untilClose:
        return buffer.readSlice(length: buffer.readableBytes).map { .content($0) }
      case .chunkLine:
        guard try readChunkLine(of: &buffer) else { return nil }
      case .chunkContent:
        return readContent(of: &buffer, then: .chunkEnd)
      case .chunkEnd:
        guard try readChunkEnd(of: &buffer) else { return nil }
      case .trailers:
        guard try readLines(of: &buffer) else { return nil }
        if let fault = section.facts.fault { throw fault }
        trailers = section.finish()
        phase = .complete
      case .idle, .closed, .complete:
        throw FramingError(.unsolicited, "unsolicited bytes arrived")
      }
    }
  }

  /// Ends the response. The connection cannot be reused if further bytes follow, because they belong to no response.
  private mutating func end(leaving buffer: ByteBuffer) -> DecodedPart {
    phase = .idle
    return .end(trailers: trailers, canReuse: canReuse && buffer.readableBytes == 0)
  }
}

/// One part of a response, in the order of the wire: interim responses, the head, content, the end.
enum DecodedPart: Sendable, Equatable {
  /// A 1xx response before the final response (RFC 9110 §15.2).
  case interim(HTTPResponse)
  /// The final response's status and fields.
  case head(HTTPResponse, ResponseFraming)
  /// Bytes of content, never empty; a slice of the input, not a copy.
  case content(ByteBuffer)
  /// The end of the response, with its trailers. `canReuse` is whether the connection may carry another exchange.
  case end(trailers: HTTPFields, canReuse: Bool)
}

/// The framing of a response's content (RFC 9112 §6.3).
enum ResponseFraming: Sendable, Hashable {
  /// No content: the response is to HEAD, has status 204 or 304, or opens a tunnel.
  case none
  /// A known number of bytes, perhaps zero.
  case length(Int64)
  /// Chunks, the last of which is marked.
  case chunked
  /// All bytes until the connection closes.
  case untilClose
}

// MARK: Status line, fields, trailers

extension ResponseDecoder {
  /// Reads the lines that have arrived. Returns whether the empty line was among them.
  private mutating func readLines(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
    let (consumed, isComplete) = try buffer.withUnsafeReadableBytes { bytes throws(FramingError) in
      try readLines(bytes)
    }
    buffer.moveReaderIndex(forwardBy: consumed)
    return isComplete
  }

  private mutating func readLines(_ bytes: UnsafeRawBufferPointer) throws(FramingError) -> (Int, Bool) {
    if phase == .statusLine { try StatusLine.checkStart(bytes) }
    var start = 0
    while let lineFeed = lines.lineFeed(in: bytes, from: start) {
      try budget.takeLine(lineFeed + 1 - start)
      let line = try bytes.line(from: start, to: lineFeed)
      start = lineFeed + 1
      if phase == .statusLine {
        statusLine = try StatusLine(line)
        phase = .fields
      } else if line.isEmpty {
        return (start, true)
      } else {
        try budget.takeField()
        try section.add(line)
      }
    }
    try budget.check(pending: bytes.count - start)
    return (start, false)
  }

  /// Ends the head and decides how the content is framed (RFC 9112 §6.3).
  private mutating func finishHead() throws(FramingError) -> DecodedPart {
    guard let statusLine else { throw FramingError(.malformedStatusLine, "there is no status line") }
    let facts = section.facts
    let head = HTTPResponse(status: statusLine.status, headerFields: section.finish())
    // The framing fields of a response that opens a tunnel are ignored (RFC 9112 §6.3, RFC 9110 §9.3.6).
    if !isTunnel(status: statusLine.status.code) { try check(facts, of: statusLine) }
    if statusLine.status.kind == .informational { return try finishInterim(head) }
    let framing = framing(status: statusLine.status.code, facts)
    begin(framing)
    canReuse =
      framing != .untilClose && !facts.closes && (statusLine.isPersistentVersion || facts.keepsAlive)
      && !isDoubtful(status: statusLine.status.code, facts)
    return .head(head, framing)
  }

  private func check(_ facts: FieldSection.Facts, of statusLine: StatusLine) throws(FramingError) {
    if let fault = facts.fault { throw fault }
    if facts.isChunked, facts.contentLength != nil {
      throw FramingError(.lengthAndTransferEncoding, "the response has a length and a transfer coding")
    }
    if facts.isChunked, !statusLine.isPersistentVersion {
      throw FramingError(.malformedTransferEncoding, "an HTTP/1.0 response has a transfer coding")
    }
  }

  private mutating func finishInterim(_ head: HTTPResponse) throws(FramingError) -> DecodedPart {
    guard head.status.code != 101 else {
      throw FramingError(.unexpectedUpgrade, "the server switches to another protocol without being asked")
    }
    try budget.takeInterimResponse()
    phase = .statusLine
    return .interim(head)
  }

  private func framing(status: Int, _ facts: FieldSection.Facts) -> ResponseFraming {
    if isResponseToHead || status == 204 || status == 304 { return .none }
    if isTunnel(status: status) { return .none }
    if facts.isChunked { return .chunked }
    return facts.contentLength.map { .length($0) } ?? .untilClose
  }

  private mutating func begin(_ framing: ResponseFraming) {
    switch framing {
    case .none, .length(0): phase = .complete
    case .length(let length):
      remaining = length
      phase = .content
    case .chunked: phase = .chunkLine
    case .untilClose: phase = .untilClose
    }
  }

  private func isTunnel(status: Int) -> Bool { isResponseToConnect && status / 100 == 2 }

  /// Whether the connection must not be reused although the response is complete: it is a tunnel now, or the server
  /// announced content that a 204 does not have and may still send it (RFC 9110 §8.6).
  private func isDoubtful(status: Int, _ facts: FieldSection.Facts) -> Bool {
    if isTunnel(status: status) { return true }
    return status == 204 && (facts.isChunked || facts.contentLength ?? 0 > 0)
  }
}

// MARK: Content

extension ResponseDecoder {
  /// Returns the content that has arrived. The phase `next` begins at the end of the content.
  private mutating func readContent(of buffer: inout ByteBuffer, then next: Phase) -> DecodedPart? {
    let count = Int(min(remaining, Int64(buffer.readableBytes)))
    guard let slice = buffer.readSlice(length: count) else { return nil }
    remaining -= Int64(count)
    if remaining == 0 { phase = next }
    return .content(slice)
  }

  /// Reads the first line of a chunk. Returns whether it was complete.
  private mutating func readChunkLine(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
    let (consumed, chunk) = try buffer.withUnsafeReadableBytes { bytes throws(FramingError) -> (Int, ChunkLine?) in
      let lineFeed = lines.lineFeed(in: bytes, from: 0)
      guard lineFeed ?? bytes.count <= limits.chunkLineBytes else { throw Self.tooMuchExtension }
      guard let lineFeed else { return (0, nil) }
      return (lineFeed + 1, try ChunkLine(try bytes.line(from: 0, to: lineFeed)))
    }
    guard let chunk else { return false }
    buffer.moveReaderIndex(forwardBy: consumed)
    // 16 bytes per line and twice the content are free, so only long lines with little content add to the overhead.
    overhead = max(0, overhead + Int64(consumed) - 16 - min(chunk.size, Int64.max / 4) * 2)
    guard overhead <= limits.chunkOverhead else { throw Self.tooMuchExtension }
    remaining = chunk.size
    phase = chunk.size == 0 ? .trailers : .chunkContent
    return true
  }

  /// Reads the CRLF after a chunk's content. Returns whether it was complete.
  private mutating func readChunkEnd(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
    let first: UInt8? = buffer.getInteger(at: buffer.readerIndex)
    let second: UInt8? = buffer.getInteger(at: buffer.readerIndex + 1)
    guard first == Octet.carriageReturn, second ?? Octet.lineFeed == Octet.lineFeed else {
      throw FramingError(.malformedChunkEnd, "a chunk's content is not followed by CRLF")
    }
    guard second != nil else { return false }
    buffer.moveReaderIndex(forwardBy: 2)
    phase = .chunkLine
    return true
  }

  private static let tooMuchExtension = FramingError(.chunkExtensionsTooLarge, "chunk extensions outgrow the content")
}
