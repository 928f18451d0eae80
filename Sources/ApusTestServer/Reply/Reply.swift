/// The server's reply to a request.
///
/// ``status(_:fields:content:)`` and similar functions create valid responses. Modifiers make the server misbehave
/// at a ``Point`` of the reply; they can be combined:
///
/// <!-- sample: reply as Reply -->
/// ```swift
/// Reply.json(#"{"id":1}"#)                                        // a proper response
///   .interim(103, fields: ["Link": "</style.css>"])               // … after an early hint
///   .waiting(for: gate)                                           // … delayed until the gate opens
///   .resetting(at: .content(4))                                   // … and broken off after four bytes
/// ```
///
/// After the reply the connection serves the next request. There are three exceptions: either side announced that it
/// closes the connection, the content is delimited by the connection's end, or less content was sent than announced.
public struct Reply: Sendable {
  /// The steps, in order.
  package var steps: [Step]

  /// Creates a reply. Without steps the connection is closed without a response.
  package init(steps: [Step]) {
    self.steps = steps
  }

  /// Creates a response with a matching `Content-Length`, unless `fields` has this field or the status allows no
  /// content.
  ///
  /// 204 and 304 are sent without content. In response to HEAD only the length of the content is sent.
  public static func status(_ status: Int, fields: FieldLines = [:], content: [UInt8] = []) -> Reply {
    guard status != 204, status != 304 else { return Reply(steps: [.head(status, fields: fields)]) }
    var fields = fields
    if fields["Content-Length"] == nil { fields["Content-Length"] = String(content.count) }
    return Reply(steps: [.head(status, fields: fields), .content(content)])
  }

  /// Creates a response of text, as `text/plain` unless `fields` has a `Content-Type`.
  public static func text(_ text: String, status: Int = 200, fields: FieldLines = [:]) -> Reply {
    .status(status, fields: typed("text/plain; charset=utf-8", fields), content: Array(text.utf8))
  }

  /// Creates a response of JSON, as `application/json` unless `fields` has a `Content-Type`. The JSON is not
  /// validated.
  public static func json(_ json: String, status: Int = 200, fields: FieldLines = [:]) -> Reply {
    .status(status, fields: typed("application/json", fields), content: Array(json.utf8))
  }

  /// Creates a chunked response: a chunk for each piece that is not empty, and trailers.
  public static func chunked(
    _ pieces: [[UInt8]], status: Int = 200, fields: FieldLines = [:], trailers: FieldLines = [:]
  ) -> Reply {
    var fields = fields
    if fields["Transfer-Encoding"] == nil { fields["Transfer-Encoding"] = "chunked" }
    let chunks = pieces.filter { !$0.isEmpty }.flatMap { piece in
      [
        Step.framing(Array("\(String(piece.count, radix: 16))\r\n".utf8)), .content(piece),
        .framing(Array("\r\n".utf8)),
      ]
    }
    return Reply(steps: [.head(status, fields: fields)] + chunks + [.lastChunk(trailers: trailers)])
  }

  /// Creates a response with `length` bytes, generated while they are sent, no faster than the client reads: the bytes
  /// 0 to 250, repeated.
  public static func generated(_ length: Int, status: Int = 200, fields: FieldLines = [:]) -> Reply {
    generated(0..<length, status: status, fields: fields)
  }

  /// Creates a response with a range of the bytes of ``generated(_:status:fields:)``, for range requests (206).
  public static func generated(_ range: Range<Int>, status: Int = 200, fields: FieldLines = [:]) -> Reply {
    generated(range, of: .counting, status: status, fields: fields)
  }

  package static func generated(
    _ range: Range<Int>, of pattern: ContentPattern, status: Int = 200, fields: FieldLines = [:]
  ) -> Reply {
    var fields = typed("application/octet-stream", fields)
    if fields["Content-Length"] == nil { fields["Content-Length"] = String(range.count) }
    return Reply(steps: [.head(status, fields: fields), .generated(pattern, range)])
  }

  /// Creates a response whose content is delimited by the connection's end: without `Content-Length` and not chunked.
  public static func unframed(_ content: [UInt8], status: Int = 200, fields: FieldLines = [:]) -> Reply {
    Reply(steps: [.head(status, fields: fields), .content(content)])
  }

  /// Creates a reply of raw bytes in place of a response, such as a garbage status line; then the connection is
  /// closed.
  public static func raw(_ text: String) -> Reply {
    Reply(steps: [.raw(Array(text.utf8))])
  }

  private static func typed(_ contentType: String, _ fields: FieldLines) -> FieldLines {
    var fields = fields
    if fields["Content-Type"] == nil { fields["Content-Type"] = contentType }
    return fields
  }
}
