import ApusCore
import Synchronization

/// One server's line: does what a ``RateLimiterState`` answers.
final class RateLimitLane: Sendable {
  typealias Waiter = RateLimiterState.Waiter

  /// What somebody in the line is told.
  private enum Told: Sendable {
    case first
    case refused(RateLimitRejection)
  }

  /// One in the line.
  private enum Wait {
    /// It has not come to wait yet, or watches the clock.
    case expected
    case waiting(CheckedContinuation<Told, any Error>)
    /// It was told before it came.
    case told(Told)
  }

  private struct Shared {
    var state: RateLimiterState
    var waits: [Waiter: Wait] = [:]
    var nextWaiter: Waiter = 0
  }

  private let shared: Mutex<Shared>

  init(_ limit: RateLimit?, capacity: Int) {
    shared = Mutex(Shared(state: RateLimiterState(limit, capacity: capacity)))
  }

  /// Whether it may be forgotten.
  func isIdle(at now: MonotonicInstant) -> Bool {
    shared.withLock { $0.state.isIdle(at: now) }
  }

  /// Takes tokens without waiting for them.
  func force(_ cost: Int, at now: MonotonicInstant) {
    delay(at: now) { $0.force(cost, at: now) }
  }

  /// The server asks for a pause.
  func pause(for time: Duration, at now: MonotonicInstant) {
    delay(at: now) { $0.pause(until: now.advanced(by: time), at: now) }
  }

  /// Tells those whose turn comes too late now, and who is first then.
  private func delay(at now: MonotonicInstant, _ change: (inout RateLimiterState) -> RateLimiterState.Delay) {
    let resumptions = shared.withLock { shared -> [@Sendable () -> Void] in
      let delay = change(&shared.state)
      var resumptions = delay.late.sorted { $0.key < $1.key }.compactMap { waiter, turn -> (@Sendable () -> Void)? in
        let rejection = RateLimitRejection(.deadline, retryAfter: now.duration(to: turn))
        return Self.tell(waiter, .refused(rejection), &shared)
      }
      if let next = delay.next, let resumption = Self.tell(next, .first, &shared) { resumptions.append(resumption) }
      return resumptions
    }
    for resume in resumptions { resume() }
  }

  /// Waits for the turn.
  ///
  /// - Parameters:
  ///   - deadline: when it makes no sense any more to go.
  ///   - onWait: called once, where it has to wait.
  /// - Returns: whether it had to wait.
  /// - Throws: ``RateLimitRejection``; `CancellationError`.
  func pass(
    cost: Int, deadline: MonotonicInstant?, clock: any MonotonicClock, onWait: () -> Void
  ) async throws -> Bool {
    let now = clock.now
    let (waiter, decision) = shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let claim = RateLimiterState.Claim(waiter: waiter, cost: cost, deadline: deadline)
      let decision = shared.state.arrive(claim, at: now)
      if decision == .first || decision == .queue { shared.waits[waiter] = .expected }
      return (waiter, decision)
    }
    switch decision {
    case .pass: return false
    case .late(let turn): throw RateLimitRejection(.deadline, retryAfter: now.duration(to: turn))
    case .full(let turn): throw RateLimitRejection(.queueFull, retryAfter: now.duration(to: turn))
    case .first: onWait()
    case .queue:
      onWait()
      if case .refused(let rejection) = try await told(waiter) { throw rejection }
    }
    try await watch(waiter, clock)
    return true
  }

  // MARK: In the line

  /// The first in line watches the clock until it may go.
  private func watch(_ waiter: Waiter, _ clock: any MonotonicClock) async throws {
    while true {
      let (turn, told, resume) = look(waiter, at: clock.now)
      resume?()
      switch turn {
      case .pass: return
      case .gone:
        if case .refused(let rejection)? = told { throw rejection }
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

  private func look(
    _ waiter: Waiter, at now: MonotonicInstant
  ) -> (RateLimiterState.Turn, Told?, (@Sendable () -> Void)?) {
    shared.withLock { shared in
      let look = shared.state.look(waiter, at: now)
      if case .until = look.turn { return (look.turn, nil, nil) }
      var told: Told?
      if case .told(let what)? = shared.waits.removeValue(forKey: waiter) { told = what }
      return (look.turn, told, look.next.flatMap { Self.tell($0, .first, &shared) })
    }
  }

  private func told(_ waiter: Waiter) async throws -> Told {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Told, any Error>? = shared.withLock { shared in
          switch shared.waits[waiter] {
          case .expected:
            shared.waits[waiter] = .waiting(continuation)
            return nil
          case .told(let told):
            // The first in line goes on to watch the clock; who was refused is done.
            if case .first = told { shared.waits[waiter] = .expected } else { shared.waits[waiter] = nil }
            return .success(told)
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
    let (wait, resume) = shared.withLock { shared -> (Wait?, (@Sendable () -> Void)?) in
      let next = shared.state.leave(waiter)
      let wait = shared.waits.removeValue(forKey: waiter)
      return (wait, next.flatMap { Self.tell($0, .first, &shared) })
    }
    if case .waiting(let continuation)? = wait { continuation.resume(throwing: CancellationError()) }
    resume?()
  }

  /// Tells somebody in the line. Answers how to resume them, outside of the lock, where they have come to wait.
  private static func tell(_ waiter: Waiter, _ told: Told, _ shared: inout Shared) -> (@Sendable () -> Void)? {
    switch shared.waits[waiter] {
    case .waiting(let continuation)?:
      if case .first = told { shared.waits[waiter] = .expected } else { shared.waits[waiter] = nil }
      return { continuation.resume(returning: told) }
    case .expected?, .told?:
      shared.waits[waiter] = .told(told)
      return nil
    case nil: return nil
    }
  }
}
