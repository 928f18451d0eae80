package import ApusCore

/// The permit of work that consists of several calls, such as a transfer. It is queued like an attempt, and must be
/// given back.
package struct WorkPermit: Sendable {
  private let scheduler: Scheduler
  private let ticket: Scheduler.Ticket
  private let mustWait: Bool

  /// Enters a scheduler's queue.
  ///
  /// - Parameters:
  ///   - origin: the origin whose limit applies.
  ///   - tags: the tags whose limits apply.
  ///   - clock: the clock of all clients that use the scheduler.
  /// - Throws: ``SchedulingRefusal`` if the queue is full.
  package init(
    from scheduler: Scheduler, for origin: Origin, tags: [Tag] = [], priority: CallPriority, clock: any MonotonicClock
  ) throws(SchedulingRefusal) {
    self.scheduler = scheduler
    let work = SchedulerState.Attempt(origin: OriginKey(origin), tags: tags, priority: priority, isTypical: false)
    switch scheduler.enter(work, clock) {
    case .runs(let ticket): (self.ticket, mustWait) = (ticket, false)
    case .waits(let ticket, _): (self.ticket, mustWait) = (ticket, true)
    case .refused(let refusal): throw refusal
    }
  }

  /// Waits until the work is admitted.
  ///
  /// - Throws: `CancellationError` when the task is cancelled in the queue.
  package func wait() async throws {
    // Work without a deadline is never too late.
    if mustWait { _ = try await scheduler.verdict(on: ticket) }
  }

  /// Gives the permit back, or leaves the queue.
  ///
  /// - Parameter now: the present instant of the clock.
  package func giveBack(at now: MonotonicInstant) {
    scheduler.leave(ticket, at: now)
  }
}
