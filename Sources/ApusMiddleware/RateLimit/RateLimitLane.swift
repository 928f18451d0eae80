import ApusCore
import Synchronization

/// The rate limit of one origin. A ``RateLimiterState`` makes the decisions.
final class RateLimitLane: Sendable {
  typealias Waiter = RateLimiterState.Waiter

  /// The result of waiting behind other calls.
  private enum Outcome: Sendable {
    /// The call is first in the queue, and now waits for its tokens.
    case first
    case refused(DelayedCall)
  }

  private typealias Resumption = WaiterTable<Waiter, Outcome>.Resumption

  private struct Shared {
    var state: RateLimiterState
    /// The queued calls. The first call stays registered while it waits for tokens, because it can still be refused.
    var waiters = WaiterTable<Waiter, Outcome>()
    var nextWaiter: Waiter = 0

    mutating func resolve(_ waiter: Waiter, with outcome: Outcome) -> Resumption? {
      guard let resumption = waiters.resolve(waiter, with: outcome) else { return nil }
      if case .first = outcome { waiters.register(waiter) }
      return resumption
    }

    mutating func suspend(
      _ waiter: Waiter, _ continuation: CheckedContinuation<Outcome, any Error>
    ) -> Result<Outcome, any Error>? {
      let result = waiters.suspend(waiter, continuation)
      if case .success(.first) = result { waiters.register(waiter) }
      return result
    }
  }

  private let shared: Mutex<Shared>

  init(_ limit: RateLimit?, capacity: Int) {
    shared = Mutex(Shared(state: RateLimiterState(limit, capacity: capacity)))
  }

  /// Whether the lane can be removed without effect.
  func isIdle(at now: MonotonicInstant) -> Bool {
    shared.withLock { $0.state.isIdle(at: now) }
  }

  /// Consumes tokens without waiting for them.
  func force(_ cost: Int, at now: MonotonicInstant) {
    delay(at: now) { $0.force(cost, at: now) }
  }

  /// Pauses the lane because its server requested a delay.
  func pause(for time: Duration, at now: MonotonicInstant) {
    delay(at: now) { $0.pause(until: now.advanced(by: time), at: now) }
  }

  /// Applies a change that delays calls. Resumes the calls that have become too late, and the new first call.
  private func delay(at now: MonotonicInstant, _ change: (inout RateLimiterState) -> RateLimiterState.Delay) {
    let resumptions = shared.withLock { shared -> [Resumption] in
      let delay = change(&shared.state)
      var resumptions = delay.late.sorted { $0.key < $1.key }.compactMap { waiter, turn in
        let refusal = DelayedCall(reason: .deadlineTooNear, delay: now.duration(to: turn))
        return shared.resolve(waiter, with: .refused(refusal))
      }
      if let next = delay.next, let resumption = shared.resolve(next, with: .first) { resumptions.append(resumption) }
      return resumptions
    }
    for resumption in resumptions { resumption.resume() }
  }

  /// Waits until the call may be sent, and consumes its tokens.
  ///
  /// - Parameters:
  ///   - deadline: the latest instant at which sending makes sense.
  ///   - onWait: called once if the call must wait.
  /// - Returns: whether the call had to wait.
  /// - Throws: ``DelayedCall``; `CancellationError`.
  func pass(
    cost: Int, deadline: MonotonicInstant?, clock: any MonotonicClock, onWait: () -> Void
  ) async throws -> Bool {
    let now = clock.now
    let (waiter, decision) = shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let claim = RateLimiterState.Claim(waiter: waiter, cost: cost, deadline: deadline)
      let decision = shared.state.arrive(claim, at: now)
      if decision == .first || decision == .queue { shared.waiters.register(waiter) }
      return (waiter, decision)
    }
    switch decision {
    case .pass: return false
    case .late(let turn): throw DelayedCall(reason: .deadlineTooNear, delay: now.duration(to: turn))
    case .full(let turn): throw DelayedCall(reason: .queueFull, delay: now.duration(to: turn))
    case .first: onWait()
    case .queue:
      onWait()
      if case .refused(let refusal) = try await outcome(of: waiter) { throw refusal }
    }
    try await watch(waiter, clock)
    return true
  }

  // MARK: Queue

  /// Sleeps until the first call in the queue may be sent.
  private func watch(_ waiter: Waiter, _ clock: any MonotonicClock) async throws {
    while true {
      let (turn, outcome, next) = poll(waiter, at: clock.now)
      next?.resume()
      switch turn {
      case .pass: return
      case .gone:
        if case .refused(let refusal)? = outcome { throw refusal }
        throw CancellationError()
      case .until(let instant):
        do {
          try await clock.sleep(until: instant)
        } catch {
          leave(waiter)
          throw error
        }
      }
    }
  }

  private func poll(_ waiter: Waiter, at now: MonotonicInstant) -> (RateLimiterState.Turn, Outcome?, Resumption?) {
    shared.withLock { shared in
      let poll = shared.state.poll(waiter, at: now)
      if case .until = poll.turn { return (poll.turn, nil, nil) }
      var outcome: Outcome?
      if case .resolved(let resolved)? = shared.waiters.cancel(waiter) { outcome = resolved }
      return (poll.turn, outcome, poll.next.flatMap { shared.resolve($0, with: .first) })
    }
  }

  private func outcome(of waiter: Waiter) async throws -> Outcome {
    try await withWaiter { continuation in
      shared.withLock { $0.suspend(waiter, continuation) }
    } onCancel: {
      leave(waiter)
    }
  }

  private func leave(_ waiter: Waiter) {
    let (cancelled, next) = shared.withLock { shared in
      let next = shared.state.leave(waiter)
      return (shared.waiters.cancel(waiter), next.flatMap { shared.resolve($0, with: .first) })
    }
    if case .suspended(let continuation)? = cancelled { continuation.resume(throwing: CancellationError()) }
    next?.resume()
  }
}
