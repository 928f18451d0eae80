import ApusCore

/// Why a call was not sent: it would have had to wait for its turn for too long.
///
/// It is the cause of the ``CallError`` with code `declined` that such a call throws: `error.underlying as?
/// RateLimitRejection`.
public struct RateLimitRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was too much.
  public enum Reason: String, Sendable, Hashable {
    /// Its turn would have come after its deadline, or after that of its attempt, which is 10 seconds where nothing
    /// else is said: `attemptTimeout(_:)` of an endpoint, or the client's `attemptTimeout`, lets it wait for longer.
    case deadline
    /// Too many wait already.
    case queueFull
  }

  /// What was too much.
  public let reason: Reason
  /// How long it would have had to wait.
  public let retryAfter: Duration

  init(_ reason: Reason, retryAfter: Duration) {
    self.reason = reason
    self.retryAfter = retryAfter
  }

  /// The reason in half a sentence.
  public var description: String {
    switch reason {
    case .deadline: "the rate limit lets it pass only after its deadline"
    case .queueFull: "too many wait for the rate limit"
    }
  }

  /// What the call fails with.
  var error: TransportError {
    var error = TransportError(.declined, requestState: .notSent, detail: description, underlying: self)
    (error.retryAfter, error.subject) = (retryAfter, .control)
    return error
  }
}
