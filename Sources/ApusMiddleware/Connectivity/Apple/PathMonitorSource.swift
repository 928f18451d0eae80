#if canImport(Network)
  import Dispatch
  import Network
  import Synchronization

  /// What Apple's systems know of the network: `NWPathMonitor`, which tells of every change.
  ///
  /// A network that comes up only when somebody uses it, such as some VPNs, counts as unknown: then calls are tried.
  /// This code is type-checked on Linux against stand-ins; the tests that run there do not run it.
  public final class PathMonitorSource: ConnectivitySource {
    private let monitor = Mutex<NWPathMonitor?>(nil)

    /// A source that tells nothing before it is started.
    public init() {}

    /// Begins to tell. Started once more, it tells the new receiver alone.
    public func start(_ report: @escaping @Sendable (ConnectivityStatus) -> Void) {
      let started = NWPathMonitor()
      started.pathUpdateHandler = { path in report(Self.status(of: path)) }
      replace(with: started)
      started.start(queue: DispatchQueue(label: "apus.connectivity"))
    }

    /// Ends it.
    public func stop() {
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
