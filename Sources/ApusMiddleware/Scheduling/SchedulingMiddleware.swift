public import ApusCore
import HTTPTypes

/// A middleware that applies the concurrency limits of a ``Scheduler`` to each attempt.
///
/// It is inside retry, so that no permit is held during a backoff, and outside everything that belongs to the attempt
/// itself, so that the attempt's timeout starts when the attempt is admitted. The deadline of the whole call includes
/// the time in the queue.
///
/// - A permit covers an attempt until its response is complete, including redirects, which count toward the limit of
///   the origin of the call's own URL. While an attempt waits for fresh credentials, it has no permit.
/// - A streamed call (`client.withResponse(to:)`) returns its permit at the response head, because an event stream may
///   stay open for hours. The scheduler does not limit open streams, except by tag: a limit of
///   ``ConcurrencyLimits/tags`` counts a stream until it ends.
/// - A long poll has a permit while it waits for the response head, unless it is `.unscheduled()`.
/// - The limit of an origin, if it is a preset, follows the protocol of the origin's last response
///   (``ConcurrencyLimits/perOrigin``). It takes effect at once; calls that have a permit keep it.
/// - ``CallPriority`` and ``ConcurrencyLimits/ageing`` order the queue. A slow origin or a paused tag does not delay
///   other calls.
/// - Work on which other calls depend, such as fetching a token (``SharedWorkKey``), needs no permit, because calls
///   with a permit may wait for that work.
/// - The trace records the reason and the duration of a wait. A waiting call's phase is `waiting`.
package struct SchedulingMiddleware: Middleware {
  let scheduler: Scheduler

  /// Creates the middleware.
  ///
  /// - Parameter scheduler: the scheduler. Default: a new scheduler with the limits ``ConcurrencyLimits/app``.
  package init(_ scheduler: Scheduler = Scheduler()) {
    self.scheduler = scheduler
  }

  /// Waits for a permit and passes the request on.
  ///
  /// - Throws: ``TransportError`` with a ``SchedulingRefusal`` as its cause: its code is `refused` when the queue is
  ///   full, and `timeout` when the deadline is too near. `CancellationError` when the call is cancelled in the queue.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let (permit, cause) = try permit(request, context) else { return try await next(request, context: context) }
    do {
      if let cause { try await scheduler.wait(permit.ticket, cause, context) }
      let response = try await next(request, context: holding(permit, context))
      scheduler.adaptLimit(of: permit.ticket, to: response, for: request, context)
      permit.giveBack(after: response.content, context)
      return response
    } catch {
      permit.giveBack(at: context.now)
      throw error
    }
  }

  /// - Returns: `nil` for a call that needs no permit.
  @inline(never)
  private func permit(
    _ request: RequestMessage, _ context: CallContext
  ) throws -> (permit: AttemptPermit, cause: QueueReason?)? {
    try attempt(request, context).map { try scheduler.permit(for: $0, context) }
  }

  private func attempt(_ request: RequestMessage, _ context: CallContext) -> SchedulerState.Attempt? {
    guard context.delivery != .described, !context.values[SharedWorkKey.self], !context.values[UnscheduledKey.self],
      let origin = OriginKey(request.head)
    else { return nil }
    return SchedulerState.Attempt(
      origin: origin, tags: context.tags,
      priority: context.values[CallPriorityKey.self] ?? CallPriority(Task.currentPriority),
      deadline: context.nearestDeadline,
      isTypical: context.delivery == .buffered)
  }

  @inline(never)
  private func holding(_ permit: AttemptPermit, _ context: CallContext) -> CallContext {
    // The permit is passed inward only if there is authentication, the only middleware that pauses a permit.
    guard !context.environment.authentications.isEmpty else { return context }
    var context = context
    context.values[AttemptPermitKey.self] = permit
    return context
  }
}

extension SchedulingMiddleware: SelfDescribing {
  /// The limits for `describe()`.
  package var facts: [Fact] {
    let limits = scheduler.limits
    var facts: [Fact] = [.permits(perOrigin: max(1, limits.perOrigin), total: max(1, limits.global))]
    let overHTTP2 = min(ConcurrencyLimits.maximumOverHTTP2, limits.global)
    if limits.isPerOriginPreset, overHTTP2 > limits.perOrigin {
      facts.append(.setting("up to \(overHTTP2) per origin over HTTP/2", ""))
    }
    for (origin, limit) in limits.origins.sorted(by: { $0.key.description < $1.key.description }) {
      facts.append(.setting("\(origin)", "\(limit)"))
    }
    for (tag, limit) in limits.tags.sorted(by: { $0.key.name < $1.key.name }) {
      facts.append(.setting("tag \(tag)", "\(limit)"))
    }
    facts.append(.setting("streams hold permits until the head", ""))
    facts.append(.setting("queue", "\(limits.queueCapacity)"))
    facts.append(.time("ageing", limits.ageing))
    return facts
  }
}

enum UnscheduledKey: ContextKey {
  static let defaultValue = false
  // Queueing does not change the response.
  static var affectsCoalescing: Bool { false }
}

extension Endpoint {
  /// Sends calls of this endpoint without a permit of the ``Scheduler``: they are neither queued nor held, and use no
  /// permits.
  ///
  /// Use it for long polls, to which the server responds only when an event has occurred. With permits, a few long
  /// polls would use all permits for their origin. Only the app and the transport's connections limit the number of
  /// unscheduled calls.
  public func unscheduled() -> Request<Value> {
    setting(UnscheduledKey.self, true)
  }
}

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
