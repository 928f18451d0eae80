import ApusCore
import Synchronization

/// A permit of one attempt, from its turn until its answer is there: the content too, unless that is streamed.
struct AttemptPermit: Sendable {
  let scheduler: Scheduler
  let ticket: Scheduler.Ticket

  /// Waits until its turn has come. Whoever is not let through has no permit any more.
  ///
  /// - Throws: ``TransportError`` with a ``SchedulingRefusal`` as its cause; `CancellationError`.
  func wait(_ cause: WaitingCause, _ context: CallContext) async throws {
    do {
      try await scheduler.wait(ticket, cause, context)
    } catch {
      giveBack(at: context.now)
      throw error
    }
  }

  /// The attempt failed.
  func giveBack(at now: MonotonicInstant) {
    scheduler.leave(ticket, at: now)
  }

  /// The attempt was answered. Returns the permit once the content has ended or was given up; for a streamed response at
  /// once, except for its limited tags.
  func giveBack(after content: ResponseContent, _ context: CallContext) {
    // Content in memory is over, and needs no closure to be made.
    guard content.bytes == nil else { return giveBack(at: context.now) }
    let clock = context.clock
    guard context.delivery != .streamed || scheduler.stream(ticket, at: clock.now) else { return }
    content.onEnd { _ in giveBack(at: clock.now) }
  }

  /// Lets others run meanwhile.
  func pause(at now: MonotonicInstant) {
    scheduler.settle(now) { $0.pause(ticket) }
  }

  /// Waits for the permit again.
  ///
  /// - Throws: ``TransportError``; `CancellationError`.
  func resume(_ context: CallContext) async throws {
    let now = context.now
    let admission = scheduler.shared.withLock { $0.resume(ticket, now) }
    if case .waits(_, let cause) = admission { try await scheduler.wait(ticket, cause, context) }
  }
}

/// Where an attempt keeps its permit, for whatever waits further in.
enum AttemptPermitKey: ContextKey {
  /// It has none: nothing schedules it.
  static let defaultValue: AttemptPermit? = nil
}

extension CallContext {
  /// Waits for something that is no exchange of this attempt, such as other credentials, without the permit that it
  /// holds: others run meanwhile. The permit is there again afterwards, waited for if need be. When the work throws,
  /// the attempt is expected to fail, and goes on without.
  ///
  /// - Throws: what `work` throws; ``TransportError`` and `CancellationError` while it waits for its permit.
  func withoutPermit<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    guard let permit = values[AttemptPermitKey.self] else { return try await work() }
    permit.pause(at: now)
    let value = try await work()
    try await permit.resume(self)
    return value
  }
}
