import ApusCore
import Synchronization

/// The connectivity of the device: whether it has a network. Share one instance among all clients of an app.
///
/// The status follows the latest evidence, from the platform, from the app or from a call: a response proves that the
/// device has a network, and an error with the code `offline` proves the opposite. Without a report, calls are the only
/// evidence. On Linux only an unreachable network counts as offline. A failed name lookup is no evidence, although it
/// is more common on Linux. Neither is an unreachable IPv6 address, because many networks have no IPv6. An app with
/// better evidence calls ``report(_:)``.
public final class Connectivity: Sendable {
  typealias Waiter = ConnectivityState.Waiter
  typealias Permit = ConnectivityState.Permit

  private struct Shared {
    var state = ConnectivityState()
    var waiters = WaiterTable<Waiter, Permit>()
    var nextWaiter: Waiter = 0
    var observers: [UInt64: AsyncStream<ConnectivityStatus>.Continuation] = [:]
    var nextObserver: UInt64 = 0
    /// The timer that admits the next probe at `timerInstant`.
    var timer: Task<Void, Never>?
    var timerInstant: MonotonicInstant?
  }

  private let shared = Mutex(Shared())
  private let source: (any ConnectivitySource)?

  /// Creates an instance without a source: calls and the app's reports are the only evidence. See ``system()``.
  public convenience init() {
    self.init(nil)
  }

  /// Creates an instance that observes a source.
  ///
  /// - Parameter source: reports the status, such as a platform's network monitor; `nil` means no source.
  package init(_ source: (any ConnectivitySource)?) {
    self.source = source
    source?.start { [weak self] status in self?.report(status) }
  }

  deinit {
    source?.stop()
    shared.withLock { shared in
      shared.timer?.cancel()
      for observer in shared.observers.values { observer.finish() }
    }
  }

  /// The current status.
  public var status: ConnectivityStatus { shared.withLock { $0.state.status } }

  /// The current status and each change. A slow reader receives only the latest value. The stream ends when this object
  /// is released.
  public var statuses: AsyncStream<ConnectivityStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ConnectivityStatus.self, bufferingPolicy: .bufferingNewest(1))
    let number = shared.withLock { shared in
      let number = shared.nextObserver
      shared.nextObserver += 1
      shared.observers[number] = continuation
      continuation.yield(shared.state.status)
      return number
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.shared.withLock { $0.observers.removeValue(forKey: number) }
    }
    return stream
  }

  /// The number of calls that wait for a network.
  public var waitingCount: Int { shared.withLock { $0.state.waitingCount } }

  /// Reports a status from another source, for example a library of the app.
  ///
  /// The status is valid until there is other evidence from the platform or from a call. After `.offline`, calls wait
  /// or are refused, depending on their ``ConnectivityPolicy``, for about 30 seconds from the first such call; then one
  /// call is sent as a probe.
  public func report(_ status: ConnectivityStatus) {
    perform { $0.report(status) }
  }

  // MARK: Calls

  /// Admits an attempt, immediately or when a network is available.
  ///
  /// - Returns: the permit; `nil`: the attempt is refused.
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  func admit(_ policy: ConnectivityPolicy, isFirst: Bool, _ context: CallContext) async throws -> Permit? {
    let now = context.now
    let (waiter, decision) = shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let decision = shared.state.arrive(waiter, policy, isFirst: isFirst, now: now)
      if decision == .wait { shared.waiters.register(waiter) }
      return (waiter, decision)
    }
    switch decision {
    case .pass(let permit): return permit
    case .refuse: return nil
    case .wait:
      context.record(.note("waits for a network, calls that wait", Int64(waitingCount)))
      // Recorded as the last event, because the call's phase and the error of a deadline depend on the latest event.
      context.record(.queued(.network))
      setTimer(context)
      let permit = try await self.permit(waiter)
      context.record(.note("waited for a network, ms", now.duration(to: context.now).milliseconds))
      return permit
    }
  }

  /// Reports the evidence of an admitted attempt.
  func found(_ finding: ConnectivityState.Finding, _ permit: Permit, _ context: CallContext) {
    if finding == .reached, !permit.isProbe, status == .online { return }
    let now = context.now
    perform { $0.found(finding, permit, now: now) }
    setTimer(context)
  }

  private func permit(_ waiter: Waiter) async throws -> Permit {
    try await withWaiter { continuation in
      shared.withLock { $0.waiters.suspend(waiter, continuation) }
    } onCancel: {
      leave(waiter)
    }
  }

  private func leave(_ waiter: Waiter) {
    let cancelled = shared.withLock { shared in
      shared.state.leave(waiter)
      if shared.state.wake == nil { Self.stopTimer(&shared) }
      return shared.waiters.cancel(waiter)
    }
    switch cancelled {
    case .suspended(let continuation)?: continuation.resume(throwing: CancellationError())
    case .resolved(let permit)?: perform { $0.abandoned(permit) }
    case .registered?, nil: break
    }
  }

  // MARK: Effects

  private func perform(_ change: (inout ConnectivityState) -> ConnectivityState.Effect) {
    let resumptions = shared.withLock { shared in
      let effect = change(&shared.state)
      if let status = effect.change {
        // Performed under the lock, so that all observers receive the changes in order.
        for observer in shared.observers.values { observer.yield(status) }
      }
      if shared.state.wake == nil { Self.stopTimer(&shared) }
      return effect.released.compactMap { shared.waiters.resolve($0.waiter, with: $0.permit) }
    }
    for resumption in resumptions { resumption.resume() }
  }

  /// Schedules the next probe, with a single task, only while calls wait.
  private func setTimer(_ context: CallContext) {
    shared.withLock { shared in
      guard let instant = shared.state.wake, instant != shared.timerInstant else { return }
      Self.stopTimer(&shared)
      let clock = context.clock
      shared.timerInstant = instant
      shared.timer = context.spawnDetached { [weak self] in
        do { try await clock.sleep(until: instant) } catch { return }
        self?.wake(instant, context)
      }
    }
  }

  private func wake(_ instant: MonotonicInstant, _ context: CallContext) {
    let isDue = shared.withLock { shared -> Bool in
      guard shared.timerInstant == instant else { return false }
      (shared.timer, shared.timerInstant) = (nil, nil)
      return true
    }
    guard isDue else { return }
    perform { $0.timePassed(instant) }
    // Calls that wait for the probe need the timer in case the probe never ends.
    setTimer(context)
  }

  private static func stopTimer(_ shared: inout Shared) {
    shared.timer?.cancel()
    (shared.timer, shared.timerInstant) = (nil, nil)
  }
}
