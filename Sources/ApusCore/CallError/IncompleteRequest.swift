/// The cause of a failed exchange: the server responded with success (2xx), but the request content (body) was not sent
/// completely, so the server cannot have received all of it (RFC 9110 §7.5).
package struct IncompleteRequest: Error {
  /// The response, with the content that had arrived.
  package let response: ResponseMessage
}

extension TransportError {
  /// Returns the error of an exchange whose content was not sent completely although the server responded with success.
  ///
  /// - Parameters:
  ///   - response: the response, with the content that has arrived, in memory.
  ///   - sent: the number of content bytes that were sent.
  ///   - expected: the length of the content, if it is known.
  ///   - reason: the reason why no more content is sent, as a clause. Default: `nil`, which means that the server does
  ///     not want the content.
  package static func incompleteRequest(
    _ response: ResponseMessage, sent: Int64, of expected: Int64?, _ reason: String? = nil
  ) -> TransportError {
    let detail = "the server responded \(response.statusCode) after \(ByteCount.text(sent, of: expected))"
    return TransportError(
      .connectionLost, requestState: .responded, detail: reason.map { "\(detail), then \($0)" } ?? detail,
      underlying: IncompleteRequest(response: response))
  }

  /// Whether the server responded with success and the request's content was not sent completely. Such an exchange is
  /// never retried automatically, because the server may have acted on a part of the content.
  package var isIncompleteRequest: Bool { underlying is IncompleteRequest }
}

extension CallError {
  /// Whether the server responded with success and the request's content was not sent completely.
  package var isIncompleteRequest: Bool { underlying is IncompleteRequest }
}

extension TraceNote {
  /// A note that the response head arrived before the request was sent completely. The number of the note is the number
  /// of content bytes sent.
  package static let earlyResponse: TraceNote = "response before the end of the request, content bytes sent"
}

/// A formatter for numbers of bytes.
enum ByteCount {
  /// Returns the text for a number of sent bytes, as in "9.9 of 30 MB" or "9.9 MB of content". The number is rounded
  /// down.
  static func text(_ sent: Int64, of total: Int64?) -> String {
    guard let total else {
      let unit = unit(of: sent)
      return "\(number(sent, unit.size)) \(unit.name) of content"
    }
    let unit = unit(of: total)
    let (part, whole) = (number(sent, unit.size), number(total, unit.size))
    return part == whole && sent != total ? "\(sent) of \(total) bytes" : "\(part) of \(whole) \(unit.name)"
  }

  private static func unit(of count: Int64) -> (size: Int64, name: String) {
    switch count {
    case ..<1000: (1, "bytes")
    case ..<1_000_000: (1000, "kB")
    case ..<1_000_000_000: (1_000_000, "MB")
    default: (1_000_000_000, "GB")
    }
  }

  /// Returns the number in a unit, with at most one decimal.
  private static func number(_ count: Int64, _ unit: Int64) -> String {
    let tenth = unit > 1 ? count % unit / (unit / 10) : 0
    return tenth == 0 ? "\(count / unit)" : "\(count / unit).\(tenth)"
  }
}
