import ApusCore

/// Why a call was not sent: its circuit is open.
///
/// It is the cause of the ``CallError`` with code `declined` that such a call throws: `error.underlying as?
/// BreakerRejection`. Sending the call again at once makes no sense; the error's `retryAfter` tells when it may.
public struct BreakerRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// Whose circuit it is.
  public let scope: BreakerScope
  /// How long it stays open; `nil` where that is not known: somebody isolated it, or one call is under way to see.
  public let retryAfter: Duration?

  init(_ scope: BreakerScope, retryAfter: Duration?) {
    self.scope = scope
    self.retryAfter = retryAfter
  }

  /// The reason in half a sentence.
  public var description: String { "the circuit of \(scope) is open" }

  /// What the call fails with.
  var error: TransportError {
    var error = TransportError(.declined, requestState: .notSent, detail: "the circuit is open", underlying: self)
    (error.retryAfter, error.subject) = (retryAfter, .control)
    return error
  }
}
