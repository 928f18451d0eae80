public import ApusCore

enum AttemptTimeoutKey: ContextKey {
  enum Limit: Sendable, Hashable {
    case standard
    case unlimited
    case limited(Duration)
  }

  /// The client's.
  static let defaultValue = Limit.standard
}

extension Endpoint {
  /// Limits each attempt of calls of this endpoint, up to the head of the answer. The limit of the whole call is
  /// `timeout`.
  ///
  /// It holds for every attempt, the last one included; the client's default does not (``AttemptDeadline``).
  ///
  /// - Parameter limit: how long an attempt may take from its turn on; not positive: nothing is sent. `nil`: no limit.
  public func attemptTimeout(_ limit: Duration?) -> Request<Value> {
    setting(AttemptTimeoutKey.self, limit.map(AttemptTimeoutKey.Limit.limited) ?? .unlimited)
  }
}
