package import ApusCore

/// The permit of work that consists of several calls, such as a transfer. It is queued like an attempt, and must be
/// returned.
package struct WorkPermit: Sendable {
  private let scheduler: Scheduler
  private let ticket: Scheduler.Ticket
  private let mustWait: Bool

  /// Requests a permit, and queues the work if necessary.
  ///
  /// - Parameters:
  ///   - work: the origin and the tag whose limits apply, and the priority.
  ///   - clock: the clock of all clients that use the scheduler.
  /// - Throws: ``SchedulingRefusal`` if the queue is full.
  package init(
    from scheduler: Scheduler, for work: (origin: Origin, tag: Tag?, priority: CallPriority), clock: any MonotonicClock
  ) throws(SchedulingRefusal) {
    self.scheduler = scheduler
    let attempt = SchedulerState.Attempt(
      origin: OriginKey(work.origin), tags: work.tag.map { [$0] } ?? [], priority: work.priority, isTypical: false)
    switch scheduler.enter(attempt, clock) {
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

  /// Returns the permit, or leaves the queue.
  ///
  /// - Parameter now: the current instant of the clock.
  package func giveBack(at now: MonotonicInstant) {
    scheduler.leave(ticket, at: now)
  }
}
