public import HTTPTypes

extension CallContext {
  /// Whether an answer is a redirect that a middleware further out goes after (RFC 9110 §15.4).
  ///
  /// Nobody reads the content of such an answer: it is neither collected nor are its codings undone.
  public func follows(_ head: HTTPResponse) -> Bool {
    followsRedirects && ResponseMessage.isRedirect(head)
  }

  /// Whether all content of an answer is to be in memory when the answer is handed out: not that of a redirect that is
  /// followed, nor of a refusal of credentials that is judged before (``answersChallenges``).
  public func collects(_ head: HTTPResponse) -> Bool {
    delivery == .buffered && !follows(head) && !(answersChallenges && head.status == .unauthorized)
  }
}

extension ResponseMessage {
  /// Whether a head refers the client to another URL that it may go to by itself (RFC 9110 §15.4).
  ///
  /// The statuses 301, 302, 303, 307 and 308, with a `Location` that is not empty. The others mean something else: a
  /// choice that a person has to make (300), a stored response that is good still (304), nothing any more (305, 306).
  public static func isRedirect(_ head: HTTPResponse) -> Bool {
    switch head.status.code {
    case 301, 302, 303, 307, 308:
      head.headerFields[values: .location].contains { $0.utf8.contains { $0 != 0x20 && $0 != 0x09 } }
    default: false
    }
  }
}
