/// A gate at which tasks wait until a test opens it, so that tests need no sleeps.
///
/// Replies of a stub and of the loopback server can wait for a gate:
///
/// ```swift
/// let gate = Gate()
/// stub.on(.get, "/slow", reply: .json("[]").waiting(for: gate))
/// async let users = api.send(.users)
/// try await gate.waitForArrivals(1)     // the call is in flight
/// gate.open()
/// ```
///
/// With ``release(_:)`` a number of tasks pass a closed gate, in order of arrival.
public final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    /// The number of released passes that no task has used yet.
    var passes = 0
    var arrivals = 0
  }

  private let monitor = Monitor(State())

  /// Creates a closed gate.
  public init() {}

  /// Whether every task may pass.
  public var isOpen: Bool { monitor.state.isOpen }

  /// The number of tasks that have called ``wait()`` so far, including those that have passed.
  public var arrivals: Int { monitor.state.arrivals }

  /// Opens the gate for all present and future waiters. An open gate cannot be closed again.
  public func open() {
    monitor.update { $0.isOpen = true }
  }

  /// Permits `count` tasks to pass, in order of arrival. Unused passes remain for later arrivals.
  public func release(_ count: Int = 1) {
    monitor.update { $0.passes += count }
  }

  /// Waits until the gate is open or a pass is released.
  ///
  /// - Throws: `CancellationError` when the task is cancelled; a cancelled waiter uses no pass.
  public func wait() async throws {
    monitor.update { $0.arrivals += 1 }
    try await monitor.first { state in
      if state.isOpen { return }
      guard state.passes > 0 else { return nil }
      state.passes -= 1
    }
  }

  /// Waits until at least `count` tasks have arrived, including those that have passed.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func waitForArrivals(_ count: Int) async throws {
    try await monitor.first { $0.arrivals >= count ? () : nil }
  }
}
