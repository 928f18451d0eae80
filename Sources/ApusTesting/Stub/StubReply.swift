public import ApusCore
public import ApusWaiting
package import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A stub's reply to a request: a response or a failure, with optional waits.
///
/// <!-- sample: replies as StubReply -->
/// ```swift
/// .json(#"{"id":7}"#)                                    // a response
/// .json("[]").after(.seconds(2))                         // … two seconds later, on the client's clock
/// .json("[]").waiting(for: gate)                         // … when the test opens the gate
/// .pieces(["a", "b"], gate: gate).failing(after: 1)      // one piece, then the connection breaks
/// .failure(TransportError(.offline, requestState: .notSent))
/// ```
public struct StubReply: Sendable {
  enum Step: Sendable {
    case wait(Gate)
    case pause(Duration)
    /// Waits until the task is cancelled.
    case stall
    case piece(Data)
    case fail(any Error)
  }

  /// The steps before the head.
  var opening: [Step] = []
  var head: HTTPResponse
  /// The pieces of content and the steps before, between and after them.
  var content: [Step] = []
  /// The fields after the content.
  var trailers = HTTPFields()

  init(status: Int, fields: HTTPFields, content: [Step]) {
    head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    self.content = content
  }

  /// The complete content, or `nil` if the content has pauses or a failure.
  var bytes: Data? {
    var all = Data()
    for step in content {
      guard case .piece(let piece) = step else { return nil }
      all.append(piece)
    }
    return all
  }

  /// The value of `Content-Length`.
  var announcedLength: Int64? {
    head.headerFields[.contentLength].flatMap { Int64($0) }
  }
}

extension StubReply.Step {
  /// Performs the step: waits, throws, or returns its piece of content.
  func perform(on clock: any MonotonicClock) async throws -> Data? {
    switch self {
    case .wait(let gate):
      if let clock = clock.selfAdvancing {
        try await clock.standStill { try await gate.wait() }
      } else {
        try await gate.wait()
      }
    case .pause(let duration): try await clock.sleep(until: clock.now.advanced(by: duration))
    case .stall:
      // Sleeps on the clock, so that a clock that advances automatically jumps to the end of the call's timeout.
      if let clock = clock.selfAdvancing { try await clock.sleep(until: .never) } else { try await Gate().wait() }
    case .piece(let data): return data
    case .fail(let error): throw error
    }
    return nil
  }
}

// Each reply sets `Content-Length`, and `Content-Type` where it is known, unless `fields` has them. Invalid fields make
// the exchange fail.
extension StubReply {
  /// Creates a response with a status and, optionally, text.
  ///
  /// Sets `Content-Length`, unless `fields` has it.
  ///
  /// - Parameters:
  ///   - status: 0 to 999.
  ///   - fields: the fields (headers) of the head, such as `["Retry-After": "1"]`.
  ///   - content: the content (body), sent as UTF-8.
  public static func status(_ status: Int, fields: FieldLines = [:], content: String = "") -> StubReply {
    complete(Data(content.utf8), nil, status, fields)
  }

  /// Creates a response of JSON, sent as written.
  public static func json(_ json: String, status: Int = 200, fields: FieldLines = [:]) -> StubReply {
    complete(Data(json.utf8), "application/json", status, fields)
  }

  /// Creates a response of a value encoded as JSON. If encoding fails, the exchange fails with the encoder's error.
  public static func encoded(
    _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), status: Int = 200, fields: FieldLines = [:]
  ) -> StubReply {
    do {
      return complete(try encoder.encode(value), "application/json", status, fields)
    } catch {
      return failure(error)
    }
  }

  /// Creates a response of plain text.
  public static func text(_ text: String, status: Int = 200, fields: FieldLines = [:]) -> StubReply {
    complete(Data(text.utf8), "text/plain; charset=utf-8", status, fields)
  }

  /// Creates a response of bytes with a media type.
  public static func bytes(
    _ bytes: Data, type: String = "application/octet-stream", status: Int = 200, fields: FieldLines = [:]
  ) -> StubReply {
    complete(bytes, type, status, fields)
  }

  /// Creates a response whose text arrives in pieces, without announcing its length.
  ///
  /// - Parameters:
  ///   - pieces: the content; empty pieces are omitted.
  ///   - gate: a gate for which each piece waits. Default: none.
  ///   - status: the status.
  ///   - fields: the fields of the head; a `Content-Length` announces the length.
  public static func pieces(
    _ pieces: [String], gate: Gate? = nil, status: Int = 200, fields: FieldLines = [:]
  ) -> StubReply {
    self.pieces(pieces.map { Data($0.utf8) }, gate: gate, status: status, fields: fields)
  }

  /// Creates a response whose bytes arrive in pieces, like ``pieces(_:gate:status:fields:)`` with text.
  package static func pieces(
    _ pieces: [Data], gate: Gate? = nil, status: Int = 200, fields: FieldLines = [:]
  ) -> StubReply {
    let steps = pieces.filter { !$0.isEmpty }.flatMap { piece in
      (gate.map { [Step.wait($0)] } ?? []) + [Step.piece(piece)]
    }
    return checked(fields, StubReply(status: status, fields: fields.httpFields, content: steps))
  }

  /// Creates a reply that makes the exchange throw an error. Use a `TransportError` to simulate a real transport.
  public static func failure(_ error: any Error) -> StubReply {
    var reply = StubReply(status: 500, fields: [:], content: [])
    reply.opening = [.fail(error)]
    return reply
  }

  /// A reply that never arrives: the exchange waits until it is cancelled or times out.
  public static let stalled = StubReply.status(500).opening([.stall])

  private static func complete(_ content: Data, _ type: String?, _ status: Int, _ lines: FieldLines) -> StubReply {
    var fields = lines.httpFields
    if let type, fields[.contentType] == nil { fields[.contentType] = type }
    if fields[.contentLength] == nil, status != 204 { fields[.contentLength] = String(content.count) }
    let steps = content.isEmpty ? [] : [Step.piece(content)]
    return checked(lines, StubReply(status: status, fields: fields, content: steps))
  }

  /// Returns the reply, or a failure if some fields are not valid.
  private static func checked(_ fields: FieldLines, _ reply: StubReply) -> StubReply {
    guard let line = fields.lines.first(where: { $0.httpField == nil }) else { return reply }
    let detail = "the stubbed reply has a field that is not valid: \(line.name)"
    return failure(TransportError(.invalidRequest, requestState: .notSent, detail: detail))
  }
}

// Modifiers: each returns a changed copy, so they can be combined.
extension StubReply {
  /// Delays the reply by a time on the client's clock.
  public func after(_ latency: Duration) -> StubReply {
    opening([.pause(latency)])
  }

  /// Delays the reply until it may pass a gate.
  public func waiting(for gate: Gate) -> StubReply {
    opening([.wait(gate)])
  }

  /// Pauses on the client's clock before each piece of content.
  public func paced(every pause: Duration) -> StubReply {
    var reply = self
    reply.content = content.flatMap { step -> [Step] in
      if case .piece = step { return [.pause(pause), step] }
      return [step]
    }
    return reply
  }

  /// Ends the content with an error.
  ///
  /// - Parameters:
  ///   - count: the number of pieces that arrive before the error.
  ///   - error: the error that the reader receives. Default: a `TransportError` with the code `connectionLost` and the
  ///     state `responded`.
  public func failing(
    after count: Int, error: any Error = TransportError(.connectionLost, requestState: .responded, detail: "stubbed")
  ) -> StubReply {
    cut(after: count, .fail(error))
  }

  /// Stalls the content after a number of pieces: the reader waits until it is cancelled.
  public func stalled(after count: Int) -> StubReply {
    cut(after: count, .stall)
  }

  /// Adds trailers (fields after the content), which are not sent in response to HEAD.
  package func trailers(_ trailers: HTTPFields) -> StubReply {
    var reply = self
    reply.trailers = trailers
    return reply
  }

  private func opening(_ steps: [Step]) -> StubReply {
    var reply = self
    reply.opening = steps + opening
    return reply
  }

  private func cut(after count: Int, _ last: Step) -> StubReply {
    var reply = self
    var pieces = 0
    reply.content = Array(
      content.prefix { step in
        if case .piece = step { pieces += 1 }
        return pieces <= count
      })
    // Waits before a removed piece are removed too.
    while let step = reply.content.last, !step.isPiece { reply.content.removeLast() }
    reply.content.append(last)
    return reply
  }
}

extension StubReply.Step {
  fileprivate var isPiece: Bool {
    if case .piece = self { return true }
    return false
  }
}
