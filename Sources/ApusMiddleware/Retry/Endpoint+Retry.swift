public import ApusCore

enum RetryPolicyKey: ContextKey {
  /// The client's.
  static let defaultValue: RetryPolicy? = nil
}

enum IdempotentKey: ContextKey {
  /// As its method says.
  static let defaultValue: Bool? = nil
}

extension Endpoint {
  /// Says which failures of calls of this endpoint are tried again. Default: what the client says.
  public func retry(_ policy: RetryPolicy) -> Request<Value> {
    setting(RetryPolicyKey.self, policy)
  }

  /// Says whether a server that gets a call of this endpoint twice does the same as after one (RFC 9110 §9.2.2), so
  /// that it can be tried again when nobody knows whether it arrived.
  ///
  /// Default: as the method says: GET, HEAD, OPTIONS, TRACE, PUT, DELETE and QUERY are.
  public func idempotent(_ isIdempotent: Bool = true) -> Request<Value> {
    setting(IdempotentKey.self, isIdempotent)
  }
}
