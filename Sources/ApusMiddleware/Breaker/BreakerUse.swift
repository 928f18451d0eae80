public import ApusCore

/// Which circuit the calls of an endpoint belong to.
public enum BreakerUse: Sendable, Hashable {
  /// That of the origin they go to.
  case origin
  /// One of their own at that origin, shared by all endpoints that name the same group: one part of a server that fails
  /// then takes no other down with it.
  case group(String)
  /// None: they are neither refused nor counted.
  case none
}

enum BreakerUseKey: ContextKey {
  static let defaultValue = BreakerUse.origin
}

extension Endpoint {
  /// Says which circuit of a ``CircuitBreaker`` calls of this endpoint belong to. Default: their origin's.
  public func breaker(_ use: BreakerUse) -> Request<Value> {
    setting(BreakerUseKey.self, use)
  }
}
