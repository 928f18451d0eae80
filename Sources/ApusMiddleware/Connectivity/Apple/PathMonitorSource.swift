#if canImport(Network)
import Dispatch
import Network
import Synchronization

/// A source that observes `NWPathMonitor`, on Apple platforms.
///
/// A path that requires a connection, such as the path of an on-demand VPN, counts as unknown, so calls are sent. On
/// Linux this code is type-checked against stubs, but not run by tests.
package final class PathMonitorSource: ConnectivitySource {
  private let monitor = Mutex<NWPathMonitor?>(nil)

  /// Creates a source that reports nothing before it is started.
  package init() {}

  /// Starts to report. A second start replaces the receiver.
  package func start(_ report: @escaping @Sendable (ConnectivityStatus) -> Void) {
    let started = NWPathMonitor()
    started.pathUpdateHandler = { path in report(Self.status(of: path)) }
    replace(with: started)
    started.start(queue: DispatchQueue(label: "apus.connectivity"))
  }

  /// Stops reporting.
  package func stop() {
    replace(with: nil)
  }

  private func replace(with next: NWPathMonitor?) {
    let previous = monitor.withLock { monitor in
      defer { monitor = next }
      return monitor
    }
    previous?.cancel()
  }

  private static func status(of path: NWPath) -> ConnectivityStatus {
    if path.status == .satisfied { return .online }
    return path.status == .unsatisfied ? .offline : .unknown
  }
}
#endif
