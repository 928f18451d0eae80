public import ApusCore

/// The reason why a call was not sent: a circuit is open.
///
/// It is the cause of the ``CallError`` with code `declined` that such a call throws: `error.underlying as?
/// BreakerRejection`. An immediate retry makes no sense; the error's `retryAfter` tells when it does.
public struct BreakerRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// Whose circuit it is: the endpoint's, its group's or the origin's.
  public let scope: BreakerScope
  /// How long it stays open; `nil` where that is not known: the circuit is isolated, or a trial request is under way.
  public let retryAfter: Duration?
  /// The failure that opened it; `nil` for a circuit that was isolated by hand.
  public let failure: FailedAttempt.Cause?

  init(_ scope: BreakerScope, retryAfter: Duration?, failure: FailedAttempt.Cause?) {
    self.scope = scope
    self.retryAfter = retryAfter
    self.failure = failure
  }

  /// The reason in half a sentence.
  public var description: String {
    let cause = failure.map { "after \($0)" } ?? "since it was isolated"
    return "the circuit of \(scope) is open \(cause)"
  }

  /// What the call fails with.
  var error: TransportError {
    var error = TransportError(.declined, requestState: .notSent, detail: description, underlying: self)
    (error.retryAfter, error.subject) = (retryAfter, .control)
    return error
  }
}
