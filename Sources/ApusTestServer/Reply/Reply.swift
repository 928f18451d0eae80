#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A script for the server's reply to a request: a list of steps.
///
/// ``status(_:fields:content:)`` and similar functions create valid responses. Modifiers change the steps at a
/// ``Point`` to make the server misbehave; they can be combined:
///
/// <!-- sample: reply as Reply -->
/// ```swift
/// Reply.json(#"{"id":1}"#)                                        // a proper response
///   .interim(103, fields: ["Link": "</style.css>"])               // … after an early hint
///   .waiting(for: gate)                                           // … held until the gate opens
///   .resetting(at: .content(4))                                   // … and broken off after four bytes
/// ```
///
/// After the last step the connection serves the next request, unless either side asked to close it, the content is
/// delimited by the connection's end, or less content was sent than announced.
public struct Reply: Sendable {
  /// The steps, in order.
  public var steps: [Step]

  /// Creates a reply. Without steps the connection is closed without a response.
  public init(steps: [Step]) {
    self.steps = steps
  }

  /// Creates a response with a matching `Content-Length`, unless `fields` has one or the status allows no content.
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

  /// Creates a response with `length` bytes of a pattern, generated while they are sent, no faster than the client
  /// reads.
  public static func generated(
    _ length: Int, of pattern: ContentPattern = .counting, status: Int = 200, fields: FieldLines = [:]
  ) -> Reply {
    var fields = typed("application/octet-stream", fields)
    if fields["Content-Length"] == nil { fields["Content-Length"] = String(length) }
    return Reply(steps: [.head(status, fields: fields), .generated(pattern, 0..<length)])
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

/// The content of a ``Reply/echo(_:status:fields:)`` response: the request as the server received it, for decoding
/// the response's JSON.
public struct EchoedRequest: Sendable, Hashable, Codable {
  /// The method token as received.
  public var method: String
  /// The request target as received.
  public var target: String
  /// The field lines in order, each as a name and a value.
  public var fields: [[String]]
  /// The kept content; Base64 in JSON.
  public var content: Data

  init(_ request: RecordedRequest) {
    method = request.method
    target = request.target
    fields = request.fields.map { [$0.name, $0.value] }
    content = Data(request.content)
  }
}

extension Reply {
  /// Creates a response that describes the request: an ``EchoedRequest`` in JSON.
  public static func echo(_ request: RecordedRequest, status: Int = 200, fields: FieldLines = [:]) -> Reply {
    guard let json = try? JSONEncoder().encode(EchoedRequest(request)) else { return .status(500) }
    return .json(String(decoding: json, as: UTF8.self), status: status, fields: fields)
  }
}
