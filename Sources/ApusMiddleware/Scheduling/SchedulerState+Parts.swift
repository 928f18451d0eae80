import ApusCore

/// What its steps are made of.
extension SchedulerState {
  func isValid(_ ticket: Ticket) -> Bool {
    entries.items[ticket.slot].turn == ticket.turn && entries.items[ticket.slot].phase != .free
  }

  func ticket(_ slot: Int) -> Ticket {
    Ticket(slot: slot, turn: entries.items[slot].turn)
  }

  /// Those who ask on several threads have looked at the clock before.
  mutating func present(_ now: MonotonicInstant) -> MonotonicInstant {
    latest = max(latest, now)
    return latest
  }

  /// Why it cannot run now.
  func cause(for slot: Int) -> WaitingCause? {
    if isHeld { return .held }
    if let cause = cause(in: entries.items[slot].group) { return cause }
    let origin = entries.items[slot].origin
    if isFull(origin) { return .origin(limit: origins.items[origin].limit) }
    if running >= max(1, limits.total) { return .total(limit: max(1, limits.total)) }
    return waiting > 0 && best() != nil ? .others : nil
  }

  func refusal(of slot: Int, _ now: MonotonicInstant) -> SchedulingRefusal? {
    if let latest = latestStart(of: slot), latest <= now { return .late }
    return waiting >= limits.queue ? .queueFull(limit: max(0, limits.queue)) : nil
  }

  /// When it is too late to begin.
  func latestStart(of slot: Int) -> MonotonicInstant? {
    guard let deadline = entries.items[slot].deadline else { return nil }
    let origin = entries.items[slot].origin
    guard limits.refusesHopeless, let needed = origins.items[origin].typical.known else { return deadline }
    // Once none has run there for as long as that, what they took says nothing of now.
    let isRecent = origins.items[origin].running > 0 || origins.items[origin].lastEnd.advanced(by: needed) >= latest
    return isRecent ? deadline.advanced(by: .zero - needed) : deadline
  }

  /// The line whose first goes next.
  func best() -> Int? {
    guard !isHeld, running < max(1, limits.total) else { return nil }
    var best: IndexedHeap<Rank>.Entry?
    for group in groups.items.indices {
      guard let first = groups.items[group].lines.first, cause(in: group) == nil else { continue }
      if let best, best.rank < first.rank { continue }
      best = first
    }
    return best?.id
  }

  mutating func tell(_ slot: Int) -> Decision {
    stopWaiting(slot)
    entries.items[slot].phase = .late
    return Decision(ticket: ticket(slot), verdict: .late)
  }

  mutating func run(_ slot: Int, _ now: MonotonicInstant) {
    entries.items[slot].phase = .running
    entries.items[slot].started = now
    running += 1
    let (origin, group) = (entries.items[slot].origin, entries.items[slot].group)
    for tag in groups.items[group].tags { tags.items[tag].running += 1 }
    origins.items[origin].running += 1
    if isFull(origin) { showLines(of: origin) }
  }

  mutating func stop(_ slot: Int) {
    stopTags(slot)
    stopOrigin(slot)
  }

  mutating func stopTags(_ slot: Int) {
    for tag in groups.items[entries.items[slot].group].tags { tags.items[tag].running -= 1 }
  }

  mutating func stopOrigin(_ slot: Int) {
    running -= 1
    let origin = entries.items[slot].origin
    let wasFull = isFull(origin)
    origins.items[origin].running -= 1
    if wasFull { showLines(of: origin) }
  }

  mutating func wait(_ slot: Int, in queue: Int, from instant: MonotonicInstant) {
    entries.items[slot].phase = .waiting
    entries.items[slot].rank = Rank(instant: instant, number: nextNumber)
    nextNumber += 1
    waiting += 1
    if let latest = latestStart(of: slot) { deadlines.set(slot, to: latest) }
    lineUp(slot, in: queue)
  }

  mutating func stopWaiting(_ slot: Int) {
    waiting -= 1
    deadlines.remove(slot)
    leaveLine(slot)
  }
}
