public import ApusCore

enum RateLimitCostKey: ContextKey {
  /// What the limiter says.
  static let defaultValue: Int? = nil
}

extension Endpoint {
  /// Says how many requests' worth of a ``RateLimiter``'s limit a call of this endpoint takes.
  ///
  /// - Parameter cost: 0: it takes nothing and never waits. Default: what the limiter says, usually 1.
  public func rateLimit(cost: Int) -> Request<Value> {
    setting(RateLimitCostKey.self, cost)
  }
}
