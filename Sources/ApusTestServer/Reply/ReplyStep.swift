package import ApusWaiting

extension Reply {
  /// A step of a reply.
  ///
  /// Bytes are buffered until a step waits or closes the connection, so the bytes of adjacent steps are sent
  /// together.
  package enum Step: Sendable {
    /// Sends everything before it, then waits for a gate.
    case wait(Gate)
    /// Sends everything before it, then waits for a time. Prefer a gate where the test can open a gate.
    case pause(Duration)
    /// Sends everything before it, then waits until the client closes the connection or the server is shut down.
    case stall
    /// Sends an interim response: a 1xx status and field lines.
    case interim(Int, fields: FieldLines)
    /// Sends the head of the response: a status and field lines, unchanged.
    case head(Int, fields: FieldLines)
    /// Sends bytes of the content. Skipped for HEAD requests.
    case content([UInt8])
    /// Sends the bytes of a pattern at a range of offsets as content. The bytes are generated while they are sent, no
    /// faster than the client reads. Skipped for HEAD requests.
    case generated(ContentPattern, Range<Int>)
    /// Sends bytes that frame content, such as a chunk's size. Skipped for HEAD requests.
    case framing([UInt8])
    /// Sends the last chunk and the trailers. Skipped for HEAD requests.
    case lastChunk(trailers: FieldLines)
    /// Sends arbitrary bytes, for requests with any method.
    case raw([UInt8])
    /// Stops (`false`) or resumes (`true`) reading from the connection. While reading is stopped, a client that sends a
    /// lot of content is blocked; a disconnect is still detected.
    case reading(Bool)
    /// From here on reads and sends at most `bytes` in each interval. With TLS the limit applies to the bytes inside
    /// TLS, once it is set up.
    case throttle(bytes: Int, every: Duration)
    /// Cuts the connection, like ``cut``, after the given number of further bytes, or at the end of the response if the
    /// response has fewer bytes.
    case truncate(after: Int)
    /// Sends everything before it, then closes the connection. Ends the reply.
    case close
    /// Sends everything before it, closes the sending side of the connection, and reads until the client closes the
    /// other side. Ends the reply.
    case halfClose
    /// Sends everything before it, then closes the connection; over TLS without close_notify, because close_notify
    /// would distinguish the end of the content from a cut connection. Ends the reply.
    case cut
    /// Sends everything before it, then resets the connection (RST). Ends the reply.
    case reset
  }

  /// A point in a reply at which steps can be inserted or replaced.
  public enum Point: Sendable, Hashable {
    /// Before the head.
    case start
    /// After the head, before the content.
    case head
    /// After the given number of content bytes (without framing), inside a chunk if they end there.
    case content(Int)
    /// After the content.
    case end
  }

  /// Returns the steps before and after a point. A step that contains the point is split in two.
  func split(at point: Point) -> (before: [Step], after: [Step]) {
    switch point {
    case .start:
      return ([], steps)
    case .end:
      return (steps, [])
    case .head:
      let isHead = { (step: Step) in if case .head = step { true } else { false } }
      let next = steps.firstIndex(where: isHead).map { $0 + 1 } ?? steps.endIndex
      return (Array(steps[..<next]), Array(steps[next...]))
    case .content(let length):
      return split(afterContent: length)
    }
  }

  private func split(afterContent length: Int) -> (before: [Step], after: [Step]) {
    var rest = length
    for (position, step) in steps.enumerated() {
      guard let size = step.contentLength else { continue }
      if size < rest {
        rest -= size
        continue
      }
      let (first, second) = step.split(after: rest)
      return (steps[..<position] + [first], [second] + steps[(position + 1)...])
    }
    return (steps, [])
  }
}

extension Reply.Step {
  /// The number of content bytes that the step sends, or `nil` if the step sends no content.
  var contentLength: Int? {
    switch self {
    case .content(let bytes): bytes.count
    case .generated(_, let range): range.count
    default: nil
    }
  }

  /// Splits a content step in two, the first with `length` bytes.
  func split(after length: Int) -> (Self, Self) {
    switch self {
    case .content(let bytes):
      return (.content(Array(bytes.prefix(length))), .content(Array(bytes.dropFirst(length))))
    case .generated(let pattern, let range):
      let middle = range.lowerBound + length
      return (.generated(pattern, range.lowerBound..<middle), .generated(pattern, middle..<range.upperBound))
    default:
      return (self, .content([]))
    }
  }
}
