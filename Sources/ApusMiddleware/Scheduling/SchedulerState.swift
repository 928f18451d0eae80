import ApusCore

/// Which calls run and which wait: pure; ``Scheduler`` does what it answers.
///
/// Rules: one runs as soon as the total, its origin and its limited tags have room and nothing of it is held. Of those
/// that could run, the one with the lowest rank does: when it came, later by ``SchedulingLimits/ageing`` for each step
/// of priority below the most urgent. So nothing has to be done for a call to age. One that cannot run is passed by
/// those that can.
///
/// Cost: those that wait for the same stand in one line, and lines stand in a heap for each combination of limited or
/// held tags, as long as their origins have room. So a step takes time in the number of such combinations that are in
/// use, a handful, and in the logarithm of the number of origins and of those that wait; a steady load allocates
/// nothing. To hold a tag that has no limit looks once at all that wait.
///
/// After a step that may let somebody go, whoever took it asks for the ``next(now:)`` until there is none.
struct SchedulerState: Sendable {
  /// What becomes of one that comes.
  enum Admission: Hashable, Sendable {
    case runs(Ticket)
    case waits(Ticket, WaitingCause)
    case refused(SchedulingRefusal)
  }

  /// What one that waits is told.
  enum Verdict: Hashable, Sendable {
    case runs
    /// Its time is up, or what is left is no use.
    case late
  }

  struct Decision: Hashable, Sendable {
    let ticket: Ticket
    let verdict: Verdict
  }

  let limits: SchedulingLimits
  var running = 0
  var waiting = 0
  /// Whether everything is held.
  var isHeld = false

  var entries = Slots<Entry>()
  var lines = Slots<Line>()
  var groups = Slots<Group>()
  var origins = Slots<OriginRecord>()
  var originSlots: [OriginKey: Int] = [:]
  /// That of whoever came last, which is most often the next one's: it need not be looked up, and is the only one that
  /// is kept while nobody uses it. Negative before anybody came.
  var lastOrigin = -1
  var tags = Slots<TagRecord>()
  /// The tags that have a limit or are held. Whoever waits and has one of them is in a group that has it.
  var tagSlots: [Tag: Int] = [:]
  /// Used again and again, so that no array is made for a newcomer.
  var wantedTags: [Int] = []
  let originLimits: [OriginKey: Int]

  /// Those that wait and have a deadline, by the instant at which it is too late to begin.
  var deadlines = IndexedHeap<MonotonicInstant>()
  var latest = MonotonicInstant(sinceStart: .zero)
  var nextNumber: UInt64 = 0

  init(_ limits: SchedulingLimits) {
    self.limits = limits
    originLimits = limits.origins.reduce(into: [:]) { $0[OriginKey($1.key)] = max(1, $1.value) }
    _ = groups.take(orMake: Group())
    for (tag, limit) in limits.tags { _ = addTag(tag, limit: max(1, limit)) }
  }

  /// Whether nobody has a ticket, and nothing is kept of those that had but the last one's origin.
  var isIdle: Bool {
    running == 0 && waiting == 0 && entries.count == 0 && lines.count == 0 && deadlines.count == 0 && groups.count == 1
      && origins.count == (lastOrigin < 0 ? 0 : 1) && originSlots.count == origins.count
  }

  // MARK: Steps

  /// A call comes with an attempt.
  mutating func enter(_ newcomer: Newcomer, now: MonotonicInstant) -> Admission {
    let now = present(now)
    let slot = addEntry(newcomer)
    guard let cause = cause(for: slot) else {
      run(slot, now)
      return .runs(ticket(slot))
    }
    if let refusal = refusal(of: slot, now) {
      free(slot)
      return .refused(refusal)
    }
    let ageing = max(.zero, limits.ageing)
    wait(slot, in: newcomer.priority.steps, from: now.advanced(by: ageing * newcomer.priority.steps))
    return .waits(ticket(slot), cause)
  }

  /// One that waits has become more urgent: it stands where one would that comes now with this priority, unless it
  /// stands further ahead. So it overtakes nobody that such a one would not overtake. It lets nobody go.
  mutating func raise(_ ticket: Ticket, to priority: CallPriority, now: MonotonicInstant) {
    guard isWaiting(ticket) else { return }
    let instant = present(now).advanced(by: max(.zero, limits.ageing) * priority.steps)
    let rank = Rank(instant: instant, number: nextNumber)
    guard rank < entries.items[ticket.slot].rank else { return }
    nextNumber += 1
    leaveLine(ticket.slot)
    entries.items[ticket.slot].rank = rank
    lineUp(ticket.slot, in: priority.steps)
  }

  /// Whoever may go now, or is told that it is too late; `nil`: all others wait on.
  mutating func next(now: MonotonicInstant) -> Decision? {
    let now = present(now)
    guard waiting > 0 else { return nil }
    while let first = deadlines.first, first.rank <= now {
      // The server may have become faster while it waited.
      guard let latest = latestStart(of: first.id), latest > now else { return tell(first.id) }
      deadlines.set(first.id, to: latest)
    }
    guard let line = best(), let slot = first(of: line) else { return nil }
    // Or slower.
    if let latest = latestStart(of: slot), latest <= now { return tell(slot) }
    stopWaiting(slot)
    run(slot, now)
    return Decision(ticket: ticket(slot), verdict: .runs)
  }

  /// A call stops waiting. Answers whether it waited; one that was told before keeps what it was told.
  mutating func giveUp(_ ticket: Ticket) -> Bool {
    guard isWaiting(ticket) else { return false }
    stopWaiting(ticket.slot)
    entries.items[ticket.slot].phase = .gone
    return true
  }

  /// An attempt is over, whatever became of it. Its ticket means nothing afterwards.
  mutating func leave(_ ticket: Ticket, now: MonotonicInstant) {
    guard isValid(ticket) else { return }
    switch entries.items[ticket.slot].phase {
    case .running:
      let (now, origin) = (present(now), entries.items[ticket.slot].origin)
      origins.items[origin].lastEnd = now
      if entries.items[ticket.slot].isTypical {
        origins.items[origin].typical.add(entries.items[ticket.slot].started.duration(to: now))
      }
      stop(ticket.slot)
    case .streaming: stopTags(ticket.slot)
    case .waiting: stopWaiting(ticket.slot)
    case .free, .paused, .late, .gone: break
    }
    free(ticket.slot)
  }

  /// An attempt has the head of an answer that the app reads at its own pace: it counts for its limited tags only from
  /// now on. Answers whether there are any; if not, its ticket means nothing afterwards.
  mutating func stream(_ ticket: Ticket, now: MonotonicInstant) -> Bool {
    guard isValid(ticket), entries.items[ticket.slot].phase == .running else { return false }
    let group = groups.items[entries.items[ticket.slot].group]
    guard group.tags.contains(where: { tags.items[$0].limit != nil }) else {
      leave(ticket, now: now)
      return false
    }
    origins.items[entries.items[ticket.slot].origin].lastEnd = present(now)
    stopOrigin(ticket.slot)
    entries.items[ticket.slot].phase = .streaming
    return true
  }

  /// An attempt gives its permit up for a time.
  mutating func pause(_ ticket: Ticket) {
    guard isValid(ticket), entries.items[ticket.slot].phase == .running else { return }
    stop(ticket.slot)
    entries.items[ticket.slot].phase = .paused
  }

  /// It wants its permit back. It has waited once, so it counts as one that comes now and is most urgent, and is taken
  /// in however many wait.
  mutating func resume(_ ticket: Ticket, now: MonotonicInstant) -> Admission {
    guard isValid(ticket), entries.items[ticket.slot].phase == .paused else { return .runs(ticket) }
    let now = present(now)
    regroup(ticket.slot)
    guard let cause = cause(for: ticket.slot) else {
      run(ticket.slot, now)
      return .runs(ticket)
    }
    wait(ticket.slot, in: CallPriority.immediate.steps, from: now)
    return .waits(ticket, cause)
  }

  func isWaiting(_ ticket: Ticket) -> Bool {
    isValid(ticket) && entries.items[ticket.slot].phase == .waiting
  }
}
