public import ApusCore

enum RetryPolicyKey: ContextKey {
  /// The client's.
  static let defaultValue: RetryPolicy? = nil
}

extension Endpoint {
  /// Says which failures of calls of this endpoint are tried again. Default: what the client says.
  public func retry(_ policy: RetryPolicy) -> Request<Value> {
    setting(RetryPolicyKey.self, policy)
  }

  /// Declares whether a server that gets a call of this endpoint twice does the same as after one (RFC 9110 §9.2.2), so
  /// that it may be sent again when nobody knows whether it arrived: by a retry, and by a transport that finds its
  /// connection closed.
  ///
  /// Default: as the method says (``HTTPTypes/HTTPRequest/Method/isIdempotent``). A call with an idempotency key may be
  /// sent again in any case.
  public func idempotent(_ isIdempotent: Bool = true) -> Request<Value> {
    setting(IdempotenceKey.self, isIdempotent)
  }
}
