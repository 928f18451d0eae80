public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The kinds of answers. Each sets `Content-Length`, and `Content-Type` where it knows it, unless `fields` do.
extension StubAnswer {
  /// A status, with text as content if any is given.
  ///
  /// - Parameters:
  ///   - status: 0 to 999.
  ///   - fields: fields of the head.
  ///   - content: sent in UTF-8.
  public static func status(_ status: Int, fields: HTTPFields = [:], content: String = "") -> StubAnswer {
    complete(Data(content.utf8), nil, status, fields)
  }

  /// JSON as written.
  public static func json(_ json: String, status: Int = 200, fields: HTTPFields = [:]) -> StubAnswer {
    complete(Data(json.utf8), "application/json", status, fields)
  }

  /// A value as JSON. A value that cannot be encoded makes the exchange fail with the encoder's error.
  public static func encoded(
    _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), status: Int = 200, fields: HTTPFields = [:]
  ) -> StubAnswer {
    do {
      return complete(try encoder.encode(value), "application/json", status, fields)
    } catch {
      return failure(error)
    }
  }

  /// Plain text.
  public static func text(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> StubAnswer {
    complete(Data(text.utf8), "text/plain; charset=utf-8", status, fields)
  }

  /// Bytes of any type.
  public static func bytes(
    _ bytes: Data, type: String = "application/octet-stream", status: Int = 200, fields: HTTPFields = [:]
  ) -> StubAnswer {
    complete(bytes, type, status, fields)
  }

  /// Content that arrives in pieces, its length not announced.
  ///
  /// - Parameters:
  ///   - pieces: the content; empty pieces are left out.
  ///   - gate: each piece passes it first. Default: none.
  ///   - status: the status.
  ///   - fields: fields of the head; with a `Content-Length` the length is announced.
  public static func pieces(
    _ pieces: [Data], gate: Gate? = nil, status: Int = 200, fields: HTTPFields = [:]
  ) -> StubAnswer {
    let steps = pieces.filter { !$0.isEmpty }.flatMap { piece in
      (gate.map { [Step.wait($0)] } ?? []) + [Step.piece(piece)]
    }
    return StubAnswer(status: status, fields: fields, content: steps)
  }

  /// Text that arrives in pieces, its length not announced.
  public static func pieces(
    _ pieces: [String], gate: Gate? = nil, status: Int = 200, fields: HTTPFields = [:]
  ) -> StubAnswer {
    self.pieces(pieces.map { Data($0.utf8) }, gate: gate, status: status, fields: fields)
  }

  /// No answer but an error, thrown by the exchange: a ``TransportError`` where it stands for a real transport's.
  public static func failure(_ error: any Error) -> StubAnswer {
    var answer = StubAnswer(status: 500, fields: [:], content: [])
    answer.opening = [.fail(error)]
    return answer
  }

  /// No answer ever: the exchange ends when it is cancelled.
  public static let stalled = StubAnswer.status(500).waiting(for: Gate())

  private static func complete(_ content: Data, _ type: String?, _ status: Int, _ fields: HTTPFields) -> StubAnswer {
    var fields = fields
    if let type, fields[.contentType] == nil { fields[.contentType] = type }
    if fields[.contentLength] == nil, status != 204 { fields[.contentLength] = String(content.count) }
    return StubAnswer(status: status, fields: fields, content: content.isEmpty ? [] : [.piece(content)])
  }
}
