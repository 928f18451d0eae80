#if NIO
  import HTTPTypes
  import NIOCore

  /// HTTP/1.1 answers out of bytes, strictly by RFC 9112: a value that knows no channel, no clock and no lock.
  ///
  /// One answer at a time: ``expectResponse(to:)``, then ``next(from:)`` until it has nothing more, with the bytes of each
  /// read; ``endOfInput(cleanly:)`` once the connection has ended. How the bytes are split makes no difference to the
  /// parts, but for how content is cut. Bytes of an unfinished line stay in the buffer.
  ///
  /// Where the RFC lets a recipient choose, it refuses whatever two recipients could read in two ways: LF alone, folded
  /// lines, any transfer coding but `chunked`, both framings at once. After an error it is of no more use, and neither is
  /// the connection.
  struct ResponseDecoder: Sendable {
    enum Phase: Sendable, Hashable {
      /// No answer is awaited.
      case idle
      case statusLine
      case fields
      case content
      case chunkLine
      case chunkContent
      case chunkEnd
      case trailers
      case untilClose
      /// Everything has come, and was not told yet.
      case complete
      /// The connection has ended.
      case closed
    }

    let limits: FramingLimits
    var phase = Phase.idle
    private var failure: FramingError?
    var lines = LineScanner()
    var budget: FramingBudget
    var section = FieldSection()
    var statusLine: StatusLine?
    var trailers = HTTPFields()
    /// How many bytes of the content, or of the present chunk, are still to come.
    var remaining: Int64 = 0
    /// How far chunks' first lines have outgrown the content.
    var overhead: Int64 = 0
    var isAnswerToHead = false
    var isAnswerToConnect = false
    /// Whether a byte of the answer has come.
    private(set) var hasBegun = false
    var canReuse = false

    init(limits: FramingLimits = FramingLimits()) {
      self.limits = limits
      budget = FramingBudget(limits)
    }

    /// A request is about to be written: the next bytes are its answer. The method decides whether that has content
    /// (RFC 9110 §6.4.1).
    mutating func expectResponse(to method: HTTPRequest.Method) {
      guard phase == .idle else {
        failure = failure ?? FramingError(.outOfOrder, "the connection carries another exchange, or has ended")
        return
      }
      phase = .statusLine
      budget = FramingBudget(limits)
      isAnswerToHead = method == .head
      isAnswerToConnect = method == .connect
      hasBegun = false
      overhead = 0
      trailers = HTTPFields()
    }

    /// The next part, or `nil` when more bytes are needed. Takes what it has read off the buffer.
    mutating func next(from buffer: inout ByteBuffer) throws(FramingError) -> DecodedPart? {
      if let failure { throw failure }
      do throws(FramingError) {
        return try step(&buffer)
      } catch {
        failure = error
        throw error
      }
    }

    /// The connection has ended: tells what that makes of the answer. Call it when ``next(from:)`` has nothing more.
    ///
    /// - Parameter cleanly: `false` when TLS did not announce the end (RFC 9112 §9.8).
    /// - Returns: The answer's end where the end of the connection marks it; `nil` when no answer was awaited.
    mutating func endOfInput(cleanly: Bool) throws(FramingError) -> DecodedPart? {
      if let failure { throw failure }
      let last = phase
      phase = .closed
      switch last {
      case .idle, .closed: return nil
      case .complete: return .end(trailers: trailers, canReuse: false)
      case .untilClose where cleanly: return .end(trailers: [:], canReuse: false)
      case .untilClose: failure = FramingError(.uncleanEnd, "the connection was cut, which TLS would have told")
      case .statusLine where !hasBegun: failure = FramingError(.noAnswer, "the connection ended before the answer")
      default: failure = FramingError(.truncated, "the connection ended inside the answer's \(last)")
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
          throw FramingError(.unsolicited, "bytes came that nobody asked for")
        }
      }
    }

    /// The answer is over. Bytes that follow it at once belong to nothing, so the connection cannot be trusted.
    private mutating func end(leaving buffer: ByteBuffer) -> DecodedPart {
      phase = .idle
      return .end(trailers: trailers, canReuse: canReuse && buffer.readableBytes == 0)
    }
  }
#endif
