public import ApusCore
import Synchronization

/// A scheduler with concurrency limits globally, per origin and per tag, and a queue by priority.
///
/// Several clients may use one scheduler and then share its limits; they must have the same clock, as they do by
/// default.
///
/// ```swift
/// let scheduler = Scheduler(.app)
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.scheduler = scheduler
/// }
/// scheduler.pause("images")       // on a weak network
/// _ = try await api.send(.users)
/// scheduler.resume("images")
/// ```
public final class Scheduler: Sendable {
  typealias Ticket = SchedulerState.Ticket
  typealias Verdict = SchedulerState.Verdict

  struct Shared: Sendable {
    var state: SchedulerState
    /// The waiting tasks, by the slot of their ticket, which is in use until the attempt leaves.
    var waiters = WaiterTable<Int, Verdict>()
    /// The clients' clock; `nil` before the first attempt.
    var clock: (any MonotonicClock)?
  }

  let shared: Mutex<Shared>
  /// Whether the limits of origins adapt to HTTP/2.
  private let adaptsLimits: Bool
  /// Whether the limit of any origin has been adapted. Until then, responses over HTTP/1.1 need no lock.
  private let hasAdaptedLimits = Atomic(false)

  /// Creates a scheduler.
  ///
  /// - Parameter limits: the concurrency limits. Default: ``ConcurrencyLimits/app``.
  public init(_ limits: ConcurrencyLimits = .app) {
    shared = Mutex(Shared(state: SchedulerState(limits)))
    adaptsLimits = limits.isPerOriginPreset
  }

  /// The concurrency limits.
  package var limits: ConcurrencyLimits { shared.withLock { $0.state.limits } }

  /// The number of calls that have a permit.
  public var runningCount: Int { shared.withLock { $0.state.running } }

  /// The number of queued calls, including held calls.
  public var queuedCount: Int { shared.withLock { $0.state.waiting } }

  // MARK: Pausing

  /// Whether calls with a tag are held.
  public func isPaused(_ tag: Tag) -> Bool { shared.withLock { $0.state.isPaused(tag) } }

  /// Whether all calls are held.
  package var isAllPaused: Bool { shared.withLock { $0.state.isAllPaused } }

  /// Holds calls with a tag until ``resume(_:)``: running calls continue, queued and new calls wait. Pausing does not
  /// nest: one `resume(_:)` undoes any number of `pause(_:)`.
  ///
  /// Deadlines and the queue's capacity also apply to held calls: a call that is held for longer than its `timeout`, 30
  /// seconds by default, fails with the code `timeout`. Set a longer timeout for such calls.
  public func pause(_ tag: Tag) {
    shared.withLock { $0.state.pause(tag) }
  }

  /// Stops holding calls with a tag.
  public func resume(_ tag: Tag) {
    admitNext(nil) { $0.resume(tag) }
  }

  /// Holds all calls, for example while the device is offline. Work on which other calls depend, such as fetching a
  /// token (``SharedWorkKey``), continues. Deadlines apply as with ``pause(_:)``.
  public func pauseAll() {
    shared.withLock { $0.state.pauseAll() }
  }

  /// Stops holding all calls. Calls with a paused tag stay held.
  public func resumeAll() {
    admitNext(nil) { $0.resumeAll() }
  }
}

// MARK: - Attempts

extension Scheduler {
  /// Requests a permit for an attempt. The permit must be returned.
  ///
  /// - Returns: the permit, and the reason why the attempt must wait for it (``wait(_:_:_:)``); `nil`: the
  ///   attempt is admitted.
  /// - Throws: ``TransportError`` with a ``SchedulingRefusal`` as its cause.
  func permit(
    for attempt: SchedulerState.Attempt, _ context: CallContext
  ) throws -> (permit: AttemptPermit, cause: QueueReason?) {
    switch enter(attempt, context) {
    case .runs(let ticket): return (AttemptPermit(scheduler: self, ticket: ticket), nil)
    case .waits(let ticket, let cause): return (AttemptPermit(scheduler: self, ticket: ticket), cause)
    case .refused(let refusal):
      context.record(.note("refused by the scheduler, calls queued", Int64(queuedCount)))
      throw refusal.error
    }
  }

  /// Waits for a permit. If this method throws, the caller must call `leave(_:at:)`.
  func wait(_ ticket: Ticket, _ cause: QueueReason, _ context: CallContext) async throws {
    let start = context.now
    let listening = listen(for: ticket, context)
    defer { listening?.end() }
    record(cause, context)
    try record(await verdict(on: ticket), since: start, context)
  }

  // MARK: Steps of a wait

  /// Raises the priority of a ticket when a more urgent call joins its exchange.
  @inline(never)
  private func listen(for ticket: Ticket, _ context: CallContext) -> Sharers.Listening? {
    context.sharers?.listen { [clock = context.clock] member in
      self.raise(ticket, to: CallPriority(of: member), at: clock.now)
    }
  }

  private func record(_ cause: QueueReason, _ context: CallContext) {
    context.record(.queued(cause))
  }

  private func record(_ verdict: Verdict, since start: MonotonicInstant, _ context: CallContext) throws {
    let waited = start.duration(to: context.now)
    guard verdict == .runs else {
      context.record(.note("too late for a permit, after ms", waited.milliseconds))
      throw SchedulingRefusal.deadlineTooNear.error
    }
    context.record(.admitted(after: waited))
  }

  func leave(_ ticket: Ticket, at now: MonotonicInstant) {
    admitNext(now) { $0.leave(ticket, now: now) }
  }

  /// Returns the permit of a streamed response at its head.
  ///
  /// - Returns: whether the ticket must still be returned when the stream ends.
  func startStreaming(_ ticket: Ticket, at now: MonotonicInstant) -> Bool {
    var isCounted = false
    admitNext(now) { isCounted = $0.startStreaming(ticket, now: now) }
    return isCounted
  }

  /// Adapts the limit of an attempt's origin to the protocol of a response.
  func adaptLimit(
    of ticket: Ticket, to response: ResponseMessage, for request: RequestMessage, _ context: CallContext
  ) {
    guard adaptsLimits, let version = response.protocolVersion,
      version == .http2 || hasAdaptedLimits.load(ordering: .relaxed)
    else { return }
    let streams = version == .http2 ? response.maximumConcurrentStreams : nil
    // After a redirect the response came from another origin.
    guard shared.withLock({ $0.state.isLimitOutdated(of: ticket, streams: streams) }),
      let sent = context.call.request, OriginKey(sent) == OriginKey(request.head)
    else { return }
    hasAdaptedLimits.store(true, ordering: .relaxed)
    admitNext(context.now) { $0.setLimit(of: ticket, streams: streams) }
  }

  func pause(_ ticket: Ticket, at now: MonotonicInstant) {
    admitNext(now) { $0.pause(ticket) }
  }

  /// Waits for the permit of a paused attempt again.
  func resume(_ ticket: Ticket, _ context: CallContext) async throws {
    let now = context.now
    let admission = shared.withLock { $0.resume(ticket, now) }
    if case .waits(_, let cause) = admission { try await wait(ticket, cause, context) }
  }

  /// Performs a step of the state machine that may free capacity, and resumes the attempts that are admitted.
  ///
  /// - Parameter now: the current instant; `nil` means that the clients' clock is read.
  private func admitNext(_ now: MonotonicInstant?, after step: (inout SchedulerState) -> Void = { _ in }) {
    let isAwaited = shared.withLock { shared in
      step(&shared.state)
      return shared.state.waiting > 0
    }
    if isAwaited { resumeAdmitted(now) }
  }

  // The lock is released before each continuation is resumed. An attempt that arrives in between is queued, and found
  // by a later iteration.
  private func resumeAdmitted(_ now: MonotonicInstant?) {
    // Every waiting attempt has stored its clock.
    let now = now ?? shared.withLock { $0.clock }?.now ?? MonotonicInstant(sinceStart: .zero)
    while let resumption = shared.withLock({ $0.next(now: now) }) { resumption.resume() }
  }

  private func raise(_ ticket: Ticket, to priority: CallPriority, at now: MonotonicInstant) {
    shared.withLock { $0.state.raise(ticket, to: priority, now: now) }
  }

  private func enter(_ attempt: SchedulerState.Attempt, _ context: CallContext) -> SchedulerState.Admission {
    enter(attempt.withHighestPriority(of: context.sharers), context.clock)
  }

  func enter(_ attempt: SchedulerState.Attempt, _ clock: any MonotonicClock) -> SchedulerState.Admission {
    let now = clock.now
    let admission = shared.withLock { $0.enter(attempt, now, clock) }
    // Removes attempts that have become too late, which frees capacity in the queue.
    guard case .refused(.queueFull) = admission else { return admission }
    admitNext(now)
    return shared.withLock { $0.enter(attempt, now, clock) }
  }

  /// Suspends until there is a decision on the ticket.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before the decision. A later cancellation has no effect.
  func verdict(on ticket: Ticket) async throws -> Verdict {
    try await withWaiter { continuation in
      shared.withLock { $0.waiters.suspend(ticket.slot, continuation) }
    } onCancel: {
      let cancelled = shared.withLock { shared in
        shared.state.cancelWaiting(ticket) ? shared.waiters.cancel(ticket.slot) : nil
      }
      if case .suspended(let continuation) = cancelled { continuation.resume(throwing: CancellationError()) }
    }
  }
}

extension Scheduler.Shared {
  typealias Ticket = SchedulerState.Ticket

  mutating func enter(
    _ attempt: SchedulerState.Attempt, _ now: MonotonicInstant, _ clock: any MonotonicClock
  ) -> SchedulerState.Admission {
    if self.clock == nil { self.clock = clock }
    let admission = state.enter(attempt, now: now)
    if case .waits(let ticket, _) = admission { waiters.register(ticket.slot) }
    return admission
  }

  fileprivate mutating func resume(_ ticket: Ticket, _ now: MonotonicInstant) -> SchedulerState.Admission {
    let admission = state.resume(ticket, now: now)
    if case .waits = admission { waiters.register(ticket.slot) }
    return admission
  }

  /// Returns the next task to resume. A task that has not suspended yet receives its decision when it suspends.
  fileprivate mutating func next(now: MonotonicInstant) -> WaiterTable<Int, Scheduler.Verdict>.Resumption? {
    while let decision = state.next(now: now) {
      if let resumption = waiters.resolve(decision.ticket.slot, with: decision.verdict) { return resumption }
    }
    return nil
  }
}

// MARK: - Priority of shared exchanges

extension CallPriority {
  /// Creates the priority of a call that waits for a shared exchange.
  fileprivate init(of member: Sharers.Member) {
    self = member.values[CallPriorityKey.self] ?? CallPriority(member.taskPriority)
  }
}

extension SchedulerState.Attempt {
  /// Returns the attempt with its priority set to the highest priority of the calls that wait for its exchange. The
  /// call that began the exchange may have left.
  func withHighestPriority(of sharers: Sharers?) -> SchedulerState.Attempt {
    guard let priority = sharers?.members.map({ CallPriority(of: $0) }).max() else { return self }
    var attempt = self
    attempt.priority = priority
    return attempt
  }
}

// MARK: - Permits

/// The permit of one attempt, from queueing until its response is complete, or for a streamed response until its head
/// arrives.
struct AttemptPermit: Sendable {
  let scheduler: Scheduler
  let ticket: Scheduler.Ticket

  func giveBack(at now: MonotonicInstant) {
    scheduler.leave(ticket, at: now)
  }

  /// Returns the permit once the content has ended or was discarded; for a streamed response immediately, except for
  /// its limited tags.
  func giveBack(after content: ResponseContent, _ context: CallContext) {
    // Content in memory has already ended, so no closure needs to be allocated.
    guard content.bytes == nil else { return giveBack(at: context.now) }
    let clock = context.clock
    guard context.delivery != .streamed || scheduler.startStreaming(ticket, at: clock.now) else { return }
    content.onEnd { _ in giveBack(at: clock.now) }
  }
}

/// The permit of an attempt, for inner middlewares. `nil`: the attempt is not scheduled.
enum AttemptPermitKey: ContextKey {
  static let defaultValue: AttemptPermit? = nil
}

extension CallContext {
  /// Performs work that is not an exchange of this attempt, such as waiting for fresh credentials, without the
  /// attempt's permit, and waits for the permit again afterwards. If the work throws, the attempt is expected to fail
  /// and does not wait for the permit.
  ///
  /// - Throws: the error of `work`; ``TransportError`` and `CancellationError` while the attempt waits for its permit.
  package func withoutPermit<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    guard let permit = values[AttemptPermitKey.self] else { return try await work() }
    permit.scheduler.pause(permit.ticket, at: now)
    let value = try await work()
    try await permit.scheduler.resume(permit.ticket, self)
    return value
  }
}
