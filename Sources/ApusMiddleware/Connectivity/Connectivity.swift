import ApusCore
import Synchronization

/// Whether the device has a network: made once, shared by all clients of an app, and observable.
///
/// What a source tells counts, and what calls find out: an answer shows that there is a network, whatever a source
/// says, and an error that says there is none shows that. Without a source it is known from calls alone: on Linux, where
/// connecting says that the network cannot be reached, and not where a name cannot be resolved, which is what a missing
/// network mostly looks like there. An IPv6 address that cannot be reached is no evidence: many networks have no IPv6. An
/// app that knows more tells it (``report(_:)``) or brings a ``ConnectivitySource``.
public final class Connectivity: Sendable {
  typealias Waiter = ConnectivityState.Waiter
  typealias Permit = ConnectivityState.Permit

  /// One who waits.
  private enum Wait {
    /// It has not come to wait yet.
    case expected
    case waiting(CheckedContinuation<Permit, any Error>)
    /// It was let through before it came.
    case told(Permit)
  }

  private struct Shared {
    var state = ConnectivityState()
    var waits: [Waiter: Wait] = [:]
    var nextWaiter: Waiter = 0
    var observers: [UInt64: AsyncStream<ConnectivityStatus>.Continuation] = [:]
    var nextObserver: UInt64 = 0
    /// Lets a probe through when its time has come.
    var timer: Task<Void, Never>?
    var timerInstant: MonotonicInstant?
  }

  private let shared = Mutex(Shared())
  private let source: (any ConnectivitySource)?

  /// Begins to observe.
  ///
  /// - Parameter source: what the platform knows. Default: `nil`, what calls find out alone; see ``system()``.
  public init(_ source: (any ConnectivitySource)? = nil) {
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

  /// What is known now.
  public var status: ConnectivityStatus { shared.withLock { $0.state.status } }

  /// What is known now, and each change; whoever is slow sees only the latest. It ends with this object.
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

  /// How many calls wait for a network.
  public var waiting: Int { shared.withLock { $0.state.waiters.count } }

  /// Tells what a source does not know, for example what another library has found out.
  ///
  /// It counts until something else is heard, from the source or from a call. After `.offline`, calls that do not want
  /// to be tried are refused or wait for about 30 s after the first that asks; then one is tried.
  public func report(_ status: ConnectivityStatus) {
    perform { $0.report(status) }
  }

  // MARK: Calls

  /// Decides about a call.
  ///
  /// - Returns: how it may go, at once or after waiting; `nil`: it is refused.
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  func admit(_ policy: ConnectivityPolicy, isFirst: Bool, _ context: CallContext) async throws -> Permit? {
    let now = context.now
    let (waiter, decision) = shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let decision = shared.state.arrive(waiter, policy, isFirst: isFirst, now: now)
      if decision == .wait { shared.waits[waiter] = .expected }
      return (waiter, decision)
    }
    switch decision {
    case .pass(let permit): return permit
    case .refuse: return nil
    case .wait:
      context.record(.note("waits for a network, calls that wait", Int64(waiting)))
      // Last: this is what the call's phase, and the error of a deadline, go by.
      context.record(.queued(.network))
      setTimer(context)
      let permit = try await self.permit(waiter)
      context.record(.note("waited for a network, ms", now.duration(to: context.now).milliseconds))
      return permit
    }
  }

  /// A call that was let through has ended.
  func found(_ finding: ConnectivityState.Finding, _ permit: Permit, _ context: CallContext) {
    if finding == .reached, !permit.isProbe, status == .online { return }
    let now = context.now
    perform { $0.found(finding, permit, now: now) }
    setTimer(context)
  }

  private func permit(_ waiter: Waiter) async throws -> Permit {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Permit, any Error>? = shared.withLock { shared in
          switch shared.waits[waiter] {
          case .expected:
            shared.waits[waiter] = .waiting(continuation)
            return nil
          case .told(let permit):
            shared.waits[waiter] = nil
            return .success(permit)
          case .waiting, nil: return .failure(CancellationError())
          }
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      leave(waiter)
    }
  }

  private func leave(_ waiter: Waiter) {
    let wait = shared.withLock { shared -> Wait? in
      shared.state.leave(waiter)
      if shared.state.wake == nil { Self.stopTimer(&shared) }
      return shared.waits.removeValue(forKey: waiter)
    }
    switch wait {
    case .waiting(let continuation)?: continuation.resume(throwing: CancellationError())
    case .told(let permit)?: perform { $0.abandoned(permit) }
    case .expected?, nil: break
    }
  }

  // MARK: Consequences

  private func perform(_ change: (inout ConnectivityState) -> ConnectivityState.Consequence) {
    let resumptions = shared.withLock { shared -> [@Sendable () -> Void] in
      let consequence = change(&shared.state)
      if let status = consequence.change {
        // Under the lock, so that they hear of it in order.
        for observer in shared.observers.values { observer.yield(status) }
      }
      if shared.state.wake == nil { Self.stopTimer(&shared) }
      return consequence.released.compactMap { release -> (@Sendable () -> Void)? in
        guard case .waiting(let continuation)? = shared.waits.removeValue(forKey: release.waiter) else {
          shared.waits[release.waiter] = .told(release.permit)
          return nil
        }
        return { continuation.resume(returning: release.permit) }
      }
    }
    for resume in resumptions { resume() }
  }

  /// Has the next probe let through in time: one task, and only while somebody waits.
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
    // The others wait for the probe, and not for ever.
    setTimer(context)
  }

  private static func stopTimer(_ shared: inout Shared) {
    shared.timer?.cancel()
    (shared.timer, shared.timerInstant) = (nil, nil)
  }
}
