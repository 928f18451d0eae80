/// A source of the connectivity status, such as a platform's network monitor.
///
/// Calls are evidence as well, so a source may be imprecise, late or missing.
package protocol ConnectivitySource: Sendable {
  /// Starts to report the current status and each change, in order, on any thread.
  ///
  /// Called once. `report` retains no other object.
  func start(_ report: @escaping @Sendable (ConnectivityStatus) -> Void)

  /// Stops reporting. Concurrent reports may still arrive.
  func stop()
}

/// The connectivity status of the device.
public enum ConnectivityStatus: Sendable, Hashable {
  /// The device has a network.
  case online
  /// The device has no network.
  case offline
  /// There is no evidence, or the network is established on demand.
  case unknown
}
