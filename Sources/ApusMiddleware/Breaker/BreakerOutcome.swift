import ApusCore

/// What the end of an exchange says of its endpoint and its origin.
enum BreakerOutcome: Hashable {
  /// How a server failed that was reached.
  enum Failure: Hashable {
    /// A gateway's status: 502, 503 or 504.
    case gateway
    /// The time for the head or for more content was up.
    case timeout
    /// A status by which the application itself failed.
    case status
    /// The exchange broke off.
    case reset
  }

  /// It works.
  case answered
  /// There was no connection: no address, refused, TLS, or the time for connecting was up.
  case unreachable(FailedAttempt.Cause)
  /// The server failed. With the time that a 503 asks to wait.
  case failed(Failure, FailedAttempt.Cause, retryAfter: Duration? = nil)
  /// Nothing: the call was cancelled, refused on this side, or failed by itself.
  case nothing

  /// Whether the head of a response was there.
  var hasResponse: Bool {
    switch self {
    case .answered, .failed(_, .answered, _), .failed(_, .failed(_, .answered), _): true
    case .unreachable, .failed, .nothing: false
    }
  }
}
