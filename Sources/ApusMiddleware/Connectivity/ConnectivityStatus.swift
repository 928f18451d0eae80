/// Whether the device has a network, as far as is known.
public enum ConnectivityStatus: String, Sendable, Hashable {
  /// It has.
  case online
  /// It has none.
  case offline
  /// Nothing is known, or it may turn out when somebody tries.
  case unknown
}
