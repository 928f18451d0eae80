public import HTTPTypes

extension CallContext {
  /// Whether a message of this call may be sent more than once without harm: by its method, unless the endpoint declares
  /// otherwise (``IdempotenceKey``), or because it carries an idempotency key. Whether its content can be sent again is
  /// another question.
  ///
  /// - Parameter head: of the message as it is sent: a redirect may have taken its key away.
  public func isRepeatable(_ head: HTTPRequest) -> Bool {
    (values[IdempotenceKey.self] ?? head.method.isIdempotent) || hasIdempotencyKey(head)
  }

  /// Whether a message carries an idempotency key: in the field `Idempotency-Key`, or in the one that the call names
  /// (``IdempotencyFieldKey``).
  public func hasIdempotencyKey(_ head: HTTPRequest) -> Bool {
    if let name = Self.standardKey, head.headerFields.contains(name) { return true }
    guard let name = values[IdempotencyFieldKey.self].flatMap({ HTTPField.Name($0) }) else { return false }
    return head.headerFields.contains(name)
  }

  /// What the call has sent in its present attempt, redirects included. A message that failed before it was sent, or that
  /// was answered with 401, has had no effect and does not count.
  public var sentMessages: SentMessages { call.snapshot(\.sentMessages) }

  private static let standardKey = HTTPField.Name("Idempotency-Key")
}

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
