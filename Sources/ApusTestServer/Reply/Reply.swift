#if NIO
  /// What the server does in answer to a request: a list of steps.
  ///
  /// A proper answer is made by ``status(_:fields:content:)`` and its siblings. Misbehaviour is made by changing the
  /// steps at a ``Point``, so any of them can be combined with any other:
  ///
  /// <!-- sample: reply as Reply -->
  /// ```swift
  /// Reply.json(#"{"id":1}"#)                                        // a proper answer
  ///   .interim(103, fields: ["Link": "</style.css>"])               // … after an early hint
  ///   .waiting(for: gate)                                           // … which comes when the gate opens
  ///   .resetting(at: .content(4))                                   // … and breaks off after four bytes
  /// ```
  ///
  /// After its last step the connection goes on to the next request, unless a side asked for it to be closed, the
  /// content is delimited by closing, or less content was sent than the head promised.
  public struct Reply: Sendable {
    /// What the server does, in order.
    public var steps: [Step]

    /// A reply made of these steps; with none of them the connection is closed without an answer.
    public init(steps: [Step]) {
      self.steps = steps
    }

    /// An answer with a `Content-Length` that fits, unless `fields` has one or the status allows no content.
    ///
    /// 204 and 304 are sent without content. The content is not sent in answer to HEAD, its length is.
    public static func status(_ status: Int, fields: FieldLines = [:], content: [UInt8] = []) -> Reply {
      guard status != 204, status != 304 else { return Reply(steps: [.head(status, fields: fields)]) }
      var fields = fields
      if fields["Content-Length"] == nil { fields["Content-Length"] = String(content.count) }
      return Reply(steps: [.head(status, fields: fields), .content(content)])
    }

    /// An answer of text, `text/plain` unless `fields` has another `Content-Type`.
    public static func text(_ text: String, status: Int = 200, fields: FieldLines = [:]) -> Reply {
      .status(status, fields: typed("text/plain; charset=utf-8", fields), content: Array(text.utf8))
    }

    /// An answer of JSON text, which is not checked; `application/json` unless `fields` has another `Content-Type`.
    public static func json(_ json: String, status: Int = 200, fields: FieldLines = [:]) -> Reply {
      .status(status, fields: typed("application/json", fields), content: Array(json.utf8))
    }

    /// An answer in chunks, one for each piece that is not empty, with trailers after the last.
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

    /// An answer of `length` bytes of a pattern, made on the way and sent no faster than the client reads.
    public static func generated(
      _ length: Int, of pattern: ContentPattern = .counting, status: Int = 200, fields: FieldLines = [:]
    ) -> Reply {
      var fields = typed("application/octet-stream", fields)
      if fields["Content-Length"] == nil { fields["Content-Length"] = String(length) }
      return Reply(steps: [.head(status, fields: fields), .generated(pattern, 0..<length)])
    }

    /// An answer whose content ends where the connection does: no `Content-Length`, no chunks.
    public static func unframed(_ content: [UInt8], status: Int = 200, fields: FieldLines = [:]) -> Reply {
      Reply(steps: [.head(status, fields: fields), .content(content)])
    }

    /// Any bytes in place of an answer, such as a garbage status line; then the connection is closed.
    public static func raw(_ text: String) -> Reply {
      Reply(steps: [.raw(Array(text.utf8))])
    }

    private static func typed(_ contentType: String, _ fields: FieldLines) -> FieldLines {
      var fields = fields
      if fields["Content-Type"] == nil { fields["Content-Type"] = contentType }
      return fields
    }
  }
#endif
