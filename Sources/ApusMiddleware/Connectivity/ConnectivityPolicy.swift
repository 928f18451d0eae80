public import ApusCore

/// What a call does while the device has no network.
public enum ConnectivityPolicy: String, Sendable, Hashable, CaseIterable {
  /// It fails at once with the code `offline`.
  ///
  /// From time to time one is tried all the same, so that what is believed wrongly does not last.
  case failFast
  /// It waits until there is a network, within its deadline; also when it was only by trying that it found there is
  /// none.
  ///
  /// What was not sent is sent then as the same attempt, unless its content can be sent once only.
  case wait
  /// It is tried, and only its further attempts wait: none is spent where it cannot succeed.
  case pauseRetries
}

enum ConnectivityPolicyKey: ContextKey {
  /// The client's.
  static let defaultValue: ConnectivityPolicy? = nil
}

extension Endpoint {
  /// Says what calls of this endpoint do while the device has no network. Default: what the client says.
  public func connectivity(_ policy: ConnectivityPolicy) -> Request<Value> {
    setting(ConnectivityPolicyKey.self, policy)
  }
}
