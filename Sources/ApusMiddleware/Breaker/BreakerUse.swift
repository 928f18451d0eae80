public import ApusCore

/// The circuits that calls of an endpoint count for.
public enum BreakerUse: Sendable, Hashable {
  /// That of the endpoint, by its method and path template, and that of the origin.
  ///
  /// A path without any text of its own, such as one made of `segments:`, does not tell endpoints apart: it counts for
  /// the origin only.
  case endpoint
  /// That of a group, shared by all endpoints at the origin that name the same, in place of their own; and that of the
  /// origin.
  case group(String)
  /// That of the origin only.
  case origin
  /// None: calls are neither refused nor counted.
  case none
}

enum BreakerUseKey: ContextKey {
  static let defaultValue = BreakerUse.endpoint
}

extension Endpoint {
  /// Sets the circuits of a ``CircuitBreaker`` that calls of this endpoint count for. Default: the endpoint's own, and
  /// that of the origin.
  public func breaker(_ use: BreakerUse) -> Request<Value> {
    setting(BreakerUseKey.self, use)
  }
}
