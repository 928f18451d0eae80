import ApusCore
import Synchronization

extension Scheduler {
  /// A permit for one attempt. Whoever gets one gives it back.
  ///
  /// - Returns: the permit, and what it has to wait for (``AttemptPermit/wait(_:_:)``); `nil`: for nothing.
  /// - Throws: ``TransportError`` with a ``SchedulingRefusal`` as its cause.
  func permit(
    for newcomer: SchedulerState.Newcomer, _ context: CallContext
  ) throws -> (permit: AttemptPermit, cause: WaitingCause?) {
    switch enter(newcomer, context) {
    case .runs(let ticket): return (AttemptPermit(scheduler: self, ticket: ticket), nil)
    case .waits(let ticket, let cause): return (AttemptPermit(scheduler: self, ticket: ticket), cause)
    case .refused(let refusal):
      context.record(.note("not given a turn, while so many waited", Int64(waiting)))
      throw refusal.error
    }
  }

  /// Waits until the turn of a ticket has come. Its owner leaves when it does not.
  func wait(_ ticket: Ticket, _ cause: WaitingCause, _ context: CallContext) async throws {
    let start = context.now
    // Where calls share the exchange, another one may be more urgent than those that wait for it already.
    let listening = context.sharers?.listen { [clock = context.clock] member in
      self.raise(ticket, to: CallPriority(of: member), at: clock.now)
    }
    defer { listening?.end() }
    context.record(.queued(cause))
    let verdict = try await verdict(on: ticket)
    let waited = start.duration(to: context.now)
    guard verdict == .runs else {
      context.record(.note("its turn came too late, after ms", waited.milliseconds))
      throw SchedulingRefusal.late.error
    }
    context.record(.admitted(after: waited))
  }

  /// The attempt of a ticket is over.
  func leave(_ ticket: Ticket, at now: MonotonicInstant) {
    settle(now) { $0.leave(ticket, now: now) }
  }

  /// The attempt of a ticket has the head of a streamed response. Returns whether the ticket must still be given back.
  func stream(_ ticket: Ticket, at now: MonotonicInstant) -> Bool {
    var isCounted = false
    settle(now) { isCounted = $0.stream(ticket, now: now) }
    return isCounted
  }

  /// Takes a step that may let others go, and tells those it does.
  ///
  /// - Parameter now: `nil`: what the clients' clock shows.
  func settle(_ now: MonotonicInstant?, after step: (inout SchedulerState) -> Void = { _ in }) {
    let isAwaited = shared.withLock { shared in
      step(&shared.state)
      return shared.state.waiting > 0
    }
    if isAwaited { tellOthers(now) }
  }

  /// Whoever comes meanwhile stands behind those that wait, and is told like them.
  @inline(never)  // What only this needs would be made room for in every call.
  private func tellOthers(_ now: MonotonicInstant?) {
    // Where somebody waits, there is a clock.
    let now = now ?? shared.withLock { $0.clock }?.now ?? MonotonicInstant(sinceStart: .zero)
    while let resumption = shared.withLock({ $0.next(now: now) }) { resumption.resume() }
  }

  private func raise(_ ticket: Ticket, to priority: CallPriority, at now: MonotonicInstant) {
    shared.withLock { $0.state.raise(ticket, to: priority, now: now) }
  }

  private func enter(_ newcomer: SchedulerState.Newcomer, _ context: CallContext) -> SchedulerState.Admission {
    let newcomer = newcomer.forMostUrgent(of: context.sharers)
    let now = context.now
    let clock = context.clock
    let admission = shared.withLock { $0.enter(newcomer, now, clock) }
    // Those that wait in vain make room for one that may not.
    guard case .refused(.queueFull) = admission else { return admission }
    settle(now)
    return shared.withLock { $0.enter(newcomer, now, clock) }
  }

  /// What becomes of one that waits: it is told, or its task is cancelled.
  func verdict(on ticket: Ticket) async throws -> Verdict {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let verdict = shared.withLock { $0.wait(ticket, continuation) }
        if let verdict { continuation.resume(with: verdict) }
      }
    } onCancel: {
      shared.withLock { $0.giveUp(ticket) }?.resume(throwing: CancellationError())
    }
  }
}

extension Scheduler.Shared {
  typealias Ticket = SchedulerState.Ticket
  typealias Verdict = SchedulerState.Verdict

  mutating func enter(
    _ newcomer: SchedulerState.Newcomer, _ now: MonotonicInstant, _ clock: any MonotonicClock
  ) -> SchedulerState.Admission {
    if self.clock == nil { self.clock = clock }
    let admission = state.enter(newcomer, now: now)
    if case .waits(let ticket, _) = admission { expect(ticket) }
    return admission
  }

  /// One that had a permit wants it back.
  mutating func resume(_ ticket: Ticket, _ now: MonotonicInstant) -> SchedulerState.Admission {
    let admission = state.resume(ticket, now: now)
    if case .waits = admission { expect(ticket) }
    return admission
  }

  private mutating func expect(_ ticket: Ticket) {
    if ticket.slot >= waits.count {
      waits.append(contentsOf: repeatElement(Scheduler.Wait.nobody, count: ticket.slot + 1 - waits.count))
    }
    waits[ticket.slot] = .expected
  }

  /// The next that is to be told; those that have not come to wait find it out when they do.
  mutating func next(now: MonotonicInstant) -> Scheduler.Resumption? {
    while let decision = state.next(now: now) {
      let slot = decision.ticket.slot
      guard case .waiting(let continuation) = waits[slot] else {
        waits[slot] = .told(decision.verdict)
        continue
      }
      waits[slot] = .nobody
      return Scheduler.Resumption(continuation: continuation, verdict: decision.verdict)
    }
    return nil
  }

  /// One comes to wait. Answers what it has been told before; `nil`: it waits.
  mutating func wait(
    _ ticket: Ticket, _ continuation: CheckedContinuation<Verdict, any Error>
  ) -> Result<Verdict, any Error>? {
    switch waits[ticket.slot] {
    case .told(let verdict):
      waits[ticket.slot] = .nobody
      return .success(verdict)
    case .expected:
      waits[ticket.slot] = .waiting(continuation)
      return nil
    case .nobody, .waiting: return .failure(CancellationError())
    }
  }

  /// One is cancelled. Answers its continuation when it waited. One that has its turn already keeps it: whatever it
  /// does with it finds out that it is cancelled.
  mutating func giveUp(_ ticket: Ticket) -> CheckedContinuation<Verdict, any Error>? {
    guard state.giveUp(ticket) else { return nil }
    defer { waits[ticket.slot] = .nobody }
    if case .waiting(let continuation) = waits[ticket.slot] { return continuation }
    return nil
  }
}
