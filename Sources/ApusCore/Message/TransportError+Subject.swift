extension TransportError {
  /// What failed, whatever it looked like: whether that says something of the server, and whether it would fail again.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// The server, or the way to it.
    case server
    /// The content to send: a file that cannot be read, another length than was announced, or whoever makes it threw.
    /// It would fail at any server.
    case content
    /// Getting credentials: the exchange was with whoever gives them, or there was none.
    case credentials
    /// Nothing: what holds calls back on this side lets none through for now, such as an open circuit, a rate limit or
    /// a queue that is full.
    case control
  }

  /// The same error, of something else that failed; for where it is made.
  public func about(_ subject: Subject) -> TransportError {
    var error = self
    error.subject = subject
    return error
  }
}
