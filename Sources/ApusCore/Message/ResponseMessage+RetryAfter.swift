import HTTPTypes

extension ResponseMessage {
  /// How long the server asks to wait before the next try; `nil`: it does not ask.
  ///
  /// `Retry-After` as a number of seconds or as a date, which counts from the response's own `Date`, so that a wrong
  /// clock does not matter (RFC 9110 §10.2.3): without one it is ignored. A date that has passed is zero. `retry-after-ms`, a number of
  /// milliseconds that some servers add, is the more exact of both and wins. What cannot be read is ignored; a delay is
  /// at most 2³¹ seconds.
  public var retryAfter: Duration? { RetryAfter.delay(in: head.headerFields) }
}
