#if NIO
  import HTTPTypes
  import NIOCore

  /// Status line, fields and trailers: lines until an empty one.
  extension ResponseDecoder {
    /// Reads the lines that are there; answers whether the empty one was among them.
    mutating func readLines(of buffer: inout ByteBuffer) throws(FramingError) -> Bool {
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

    /// The head is complete: decides how its content is framed (RFC 9112 §6.3).
    mutating func finishHead() throws(FramingError) -> DecodedPart {
      guard let statusLine else { throw FramingError(.malformedStatusLine, "there is no status line") }
      let facts = section.facts
      let head = HTTPResponse(status: statusLine.status, headerFields: section.finish())
      // What they say of a tunnel is to be ignored (RFC 9112 §6.3, RFC 9110 §9.3.6).
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
        throw FramingError(.lengthAndTransferEncoding, "the answer has a length and a transfer coding")
      }
      if facts.isChunked, !statusLine.isPersistentVersion {
        throw FramingError(.malformedTransferEncoding, "an HTTP/1.0 answer has a transfer coding")
      }
    }

    private mutating func finishInterim(_ head: HTTPResponse) throws(FramingError) -> DecodedPart {
      guard head.status.code != 101 else {
        throw FramingError(.unexpectedUpgrade, "the server changes to another protocol unasked")
      }
      try budget.takeInterimResponse()
      phase = .statusLine
      return .interim(head)
    }

    private func framing(status: Int, _ facts: FieldSection.Facts) -> ResponseFraming {
      if isAnswerToHead || status == 204 || status == 304 { return .none }
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

    private func isTunnel(status: Int) -> Bool { isAnswerToConnect && status / 100 == 2 }

    /// Whether the connection must not be used again although the answer is complete: it is a tunnel now, or the server
    /// announced content where there is none and may yet send it (RFC 9110 §8.6).
    private func isDoubtful(status: Int, _ facts: FieldSection.Facts) -> Bool {
      if isTunnel(status: status) { return true }
      return status == 204 && (facts.isChunked || facts.contentLength ?? 0 > 0)
    }
  }
#endif
