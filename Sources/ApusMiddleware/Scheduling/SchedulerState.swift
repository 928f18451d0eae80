import ApusCore

/// The running and the waiting attempts. A pure state machine, driven by ``Scheduler``.
///
/// An attempt is admitted as soon as the global limit, its origin and its limited tags have room and the attempt is not
/// held. Of several attempts that could run, the attempt with the lowest rank is admitted first. The rank is the
/// arrival, plus ``ConcurrencyLimits/ageing`` for each step of priority below the most urgent, so ageing needs no
/// updates. Attempts that can run overtake attempts that cannot.
///
/// Attempts with the same origin and the same limited or held tags wait in one line. Each combination of such tags (a
/// group) has a heap of the lines whose origins have room. So the time of a step is linear in the number of groups in
/// use, which is small, and logarithmic in the number of origins and of waiting attempts; a steady load allocates
/// nothing. Pausing a tag that has no limit visits all waiting attempts once.
///
/// After each step that can admit attempts, call ``next(now:)`` until it returns `nil`.
struct SchedulerState: Sendable {
  /// An attempt that requests a permit.
  struct Attempt: Sendable {
    let origin: OriginKey
    var tags: [Tag] = []
    var priority = CallPriority.normal
    var deadline: MonotonicInstant?
    /// Whether the attempt's duration is a sample of its origin's typical time. The duration of a stream is no sample,
    /// because the app reads at its own pace.
    var isTypical = true
  }

  /// An attempt, from ``enter(_:now:)`` until ``leave(_:now:)``.
  struct Ticket: Hashable, Sendable {
    let slot: Int
    /// The number of uses of the slot, so that an old ticket never matches a new attempt.
    fileprivate let turn: UInt32
  }

  /// The result of requesting a permit.
  enum Admission: Hashable, Sendable {
    case runs(Ticket)
    case waits(Ticket, QueueReason)
    case refused(SchedulingRefusal)
  }

  /// The result of a wait.
  enum Verdict: Hashable, Sendable {
    /// The attempt has a permit.
    case runs
    /// The attempt's deadline has passed, or leaves too little time for a response.
    case late
  }

  struct Decision: Hashable, Sendable {
    let ticket: Ticket
    let verdict: Verdict
  }

  let limits: ConcurrencyLimits
  /// The number of attempts with a permit.
  private(set) var running = 0
  private(set) var waiting = 0
  /// Whether all attempts are held.
  private(set) var isAllPaused = false

  private var entries = Slots<Entry>()
  private var lines = Slots<Line>()
  private var groups = Slots<Group>()
  private var origins = Slots<OriginRecord>()
  private var originSlots: [OriginKey: Int] = [:]
  /// The origin of the latest attempt; -1 before the first attempt. The next attempt usually has the same origin and
  /// then needs no lookup, so only this origin is stored while unused.
  private var lastOrigin = -1
  private var tags = Slots<TagRecord>()
  /// The tags that have a limit or are paused. A waiting attempt with such a tag is in a group with that tag.
  private var tagSlots: [Tag: Int] = [:]
  /// A reused buffer, so that no array is allocated for an attempt.
  private var wantedTags: [Int] = []
  private let originLimits: [OriginKey: Int]
  /// The waiting attempts with a deadline, by the latest instant at which they can start.
  private var deadlines = IndexedHeap<MonotonicInstant>()
  private var latestNow = MonotonicInstant(sinceStart: .zero)
  private var nextNumber: UInt64 = 0

  init(_ limits: ConcurrencyLimits) {
    self.limits = limits
    originLimits = limits.origins.reduce(into: [:]) { $0[OriginKey($1.key)] = max(1, $1.value) }
    _ = groups.take(orMake: Group())
    for (tag, limit) in limits.tags { _ = addTag(tag, limit: max(1, limit)) }
  }

  // MARK: Queries

  /// The number of attempts with a ticket: running, streaming, waiting or paused.
  var ticketCount: Int { entries.count }

  /// The number of tags that have a limit or are paused.
  var trackedTagCount: Int { tagSlots.count }

  /// Whether there are no tickets, and no records of previous tickets except the last origin.
  var isIdle: Bool {
    running == 0 && waiting == 0 && entries.count == 0 && lines.count == 0 && deadlines.count == 0 && groups.count == 1
      && origins.count == (lastOrigin < 0 ? 0 : 1) && originSlots.count == origins.count
  }

  func isWaiting(_ ticket: Ticket) -> Bool {
    isValid(ticket) && entries.items[ticket.slot].phase == .waiting
  }

  func isPaused(_ tag: Tag) -> Bool {
    tagSlots[tag].map { tags.items[$0].isHeld } ?? false
  }

  // MARK: Attempts

  /// Admits, queues or refuses an attempt.
  mutating func enter(_ attempt: Attempt, now: MonotonicInstant) -> Admission {
    let now = monotonic(now)
    let slot = addEntry(attempt)
    guard let cause = cause(for: slot) else {
      run(slot, now)
      return .runs(ticket(slot))
    }
    if let refusal = refusal(of: slot, now) {
      free(slot)
      return .refused(refusal)
    }
    let ageing = max(.zero, limits.ageing)
    wait(slot, in: attempt.priority.steps, from: now.advanced(by: ageing * attempt.priority.steps))
    return .waits(ticket(slot), cause)
  }

  /// Raises the priority of a waiting attempt: its rank becomes the rank of an attempt that arrives now with this
  /// priority, unless its own rank is lower. Admits no attempt.
  mutating func raise(_ ticket: Ticket, to priority: CallPriority, now: MonotonicInstant) {
    guard isWaiting(ticket) else { return }
    let instant = monotonic(now).advanced(by: max(.zero, limits.ageing) * priority.steps)
    let rank = Rank(instant: instant, number: nextNumber)
    guard rank < entries.items[ticket.slot].rank else { return }
    nextNumber += 1
    leaveLine(ticket.slot)
    entries.items[ticket.slot].rank = rank
    lineUp(ticket.slot, in: priority.steps)
  }

  /// Admits the next attempt, or ends the wait of an attempt that is too late. Returns `nil` if no attempt can be
  /// admitted and no attempt is too late.
  mutating func next(now: MonotonicInstant) -> Decision? {
    let now = monotonic(now)
    guard waiting > 0 else { return nil }
    while let first = deadlines.first, first.rank <= now {
      // The server may have become faster in the meantime.
      guard let latest = latestStart(of: first.id), latest > now else { return endLate(first.id) }
      deadlines.set(first.id, to: latest)
    }
    guard let line = bestLine(), let slot = first(of: line) else { return nil }
    // The server may have become slower, too.
    if let latest = latestStart(of: slot), latest <= now { return endLate(slot) }
    stopWaiting(slot)
    run(slot, now)
    return Decision(ticket: ticket(slot), verdict: .runs)
  }

  /// Ends a wait that was cancelled. Returns whether the attempt was waiting; otherwise an earlier decision remains
  /// valid.
  mutating func cancelWaiting(_ ticket: Ticket) -> Bool {
    guard isWaiting(ticket) else { return false }
    stopWaiting(ticket.slot)
    entries.items[ticket.slot].phase = .cancelled
    return true
  }

  /// Ends an attempt in any phase. Its ticket is invalid afterwards.
  mutating func leave(_ ticket: Ticket, now: MonotonicInstant) {
    guard isValid(ticket) else { return }
    switch entries.items[ticket.slot].phase {
    case .running:
      let (now, origin) = (monotonic(now), entries.items[ticket.slot].origin)
      origins.items[origin].lastEnd = now
      if entries.items[ticket.slot].isTypical {
        origins.items[origin].typical.add(entries.items[ticket.slot].started.duration(to: now))
      }
      stop(ticket.slot)
    case .streaming: stopTags(ticket.slot)
    case .waiting: stopWaiting(ticket.slot)
    case .free, .paused, .late, .cancelled: break
    }
    free(ticket.slot)
  }

  /// Returns the permit of an attempt whose response is streamed, at its head. From then on the attempt counts only
  /// toward the limits of its tags.
  ///
  /// - Returns: whether the attempt has limited tags. If not, its ticket is invalid afterwards.
  mutating func startStreaming(_ ticket: Ticket, now: MonotonicInstant) -> Bool {
    guard isValid(ticket), entries.items[ticket.slot].phase == .running else { return false }
    let group = groups.items[entries.items[ticket.slot].group]
    guard group.tags.contains(where: { tags.items[$0].limit != nil }) else {
      leave(ticket, now: now)
      return false
    }
    origins.items[entries.items[ticket.slot].origin].lastEnd = monotonic(now)
    stopOrigin(ticket.slot)
    entries.items[ticket.slot].phase = .streaming
    return true
  }

  /// Revokes the permit of an attempt until ``resume(_:now:)``.
  mutating func pause(_ ticket: Ticket) {
    guard isValid(ticket), entries.items[ticket.slot].phase == .running else { return }
    stop(ticket.slot)
    entries.items[ticket.slot].phase = .paused
  }

  /// Requests the permit of a paused attempt again. The attempt has waited before, so it is treated as if it arrived
  /// now with the highest priority, and is queued even if the queue is full.
  mutating func resume(_ ticket: Ticket, now: MonotonicInstant) -> Admission {
    guard isValid(ticket), entries.items[ticket.slot].phase == .paused else { return .runs(ticket) }
    let now = monotonic(now)
    regroup(ticket.slot)
    guard let cause = cause(for: ticket.slot) else {
      run(ticket.slot, now)
      return .runs(ticket)
    }
    wait(ticket.slot, in: CallPriority.immediate.steps, from: now)
    return .waits(ticket, cause)
  }

  // MARK: Limits of origins

  /// Whether the limit of an attempt's origin is a preset and differs from the limit for ``setLimit(of:streams:)``.
  func isLimitOutdated(of ticket: Ticket, streams: UInt32?) -> Bool {
    guard isValid(ticket) else { return false }
    let origin = origins.items[entries.items[ticket.slot].origin]
    return origin.hasPresetLimit && origin.limit != presetLimit(streams: streams)
  }

  /// Adapts the limit of an attempt's origin to the protocol of a response. A limit that the app has set is kept.
  ///
  /// - Parameter streams: the number of streams that an HTTP/2 connection accepts; `nil` over HTTP/1.1.
  mutating func setLimit(of ticket: Ticket, streams: UInt32?) {
    guard isLimitOutdated(of: ticket, streams: streams) else { return }
    let origin = entries.items[ticket.slot].origin
    origins.items[origin].limit = presetLimit(streams: streams)
    rankLines(of: origin)
  }

  private func presetLimit(streams: UInt32?) -> Int {
    max(1, streams.map { min(Int($0), ConcurrencyLimits.maximumOverHTTP2) } ?? limits.perOrigin)
  }

  // MARK: Holding

  mutating func pauseAll() { isAllPaused = true }

  mutating func resumeAll() { isAllPaused = false }

  /// Holds attempts with a tag; running attempts continue.
  mutating func pause(_ tag: Tag) {
    if let slot = tagSlots[tag] {
      tags.items[slot].isHeld = true
      return
    }
    let slot = addTag(tag, limit: nil)
    tags.items[slot].isHeld = true
    // Moves the tag's attempts from shared lines to lines of their own, in order.
    for line in lines.items.indices {
      for queue in lines.items[line].queues.indices { moveAll(with: tag, in: line, queue) }
    }
  }

  mutating func resume(_ tag: Tag) {
    guard let slot = tagSlots[tag] else { return }
    tags.items[slot].isHeld = false
    forgetTag(slot)
  }

  // MARK: Admitting

  private func isValid(_ ticket: Ticket) -> Bool {
    entries.items[ticket.slot].turn == ticket.turn && entries.items[ticket.slot].phase != .free
  }

  private func ticket(_ slot: Int) -> Ticket {
    Ticket(slot: slot, turn: entries.items[slot].turn)
  }

  /// Returns the latest instant so far, because concurrent callers may arrive in a different order than they read the
  /// clock.
  private mutating func monotonic(_ now: MonotonicInstant) -> MonotonicInstant {
    latestNow = max(latestNow, now)
    return latestNow
  }

  /// Returns the reason why an attempt cannot run now; `nil` if it can.
  private func cause(for slot: Int) -> QueueReason? {
    if isAllPaused { return .held }
    if let cause = cause(inGroup: entries.items[slot].group) { return cause }
    let origin = entries.items[slot].origin
    if isFull(origin) { return .origin(limit: origins.items[origin].limit) }
    if running >= max(1, limits.global) { return .global(limit: max(1, limits.global)) }
    return waiting > 0 && bestLine() != nil ? .behindOthers : nil
  }

  /// Returns the reason why a group's tags prevent all of its attempts from running now; `nil` if there is none.
  private func cause(inGroup group: Int) -> QueueReason? {
    for slot in groups.items[group].tags {
      if tags.items[slot].isHeld { return .held }
      if let limit = tags.items[slot].limit, tags.items[slot].running >= limit { return .tag(limit: limit) }
    }
    return nil
  }

  private func refusal(of slot: Int, _ now: MonotonicInstant) -> SchedulingRefusal? {
    if let latest = latestStart(of: slot), latest <= now { return .deadlineTooNear }
    return waiting >= limits.queueCapacity ? .queueFull(limit: max(0, limits.queueCapacity)) : nil
  }

  /// Returns the latest instant at which starting an attempt makes sense; `nil` without a deadline.
  private func latestStart(of slot: Int) -> MonotonicInstant? {
    guard let deadline = entries.items[slot].deadline else { return nil }
    let origin = entries.items[slot].origin
    guard limits.refusesLateCalls, let needed = origins.items[origin].typical.known else { return deadline }
    // A measurement is outdated once no attempt to the origin has run for as long as a typical attempt takes.
    let isRecent = origins.items[origin].running > 0 || origins.items[origin].lastEnd.advanced(by: needed) >= latestNow
    return isRecent ? deadline.advanced(by: .zero - needed) : deadline
  }

  private func isFull(_ origin: Int) -> Bool {
    origins.items[origin].running >= origins.items[origin].limit
  }

  /// Returns the line whose first attempt runs next.
  private func bestLine() -> Int? {
    guard !isAllPaused, running < max(1, limits.global) else { return nil }
    var best: IndexedHeap<Rank>.Entry?
    for group in groups.items.indices {
      guard let first = groups.items[group].lines.first, cause(inGroup: group) == nil else { continue }
      if let best, best.rank < first.rank { continue }
      best = first
    }
    return best?.id
  }

  private mutating func endLate(_ slot: Int) -> Decision {
    stopWaiting(slot)
    entries.items[slot].phase = .late
    return Decision(ticket: ticket(slot), verdict: .late)
  }

  private mutating func run(_ slot: Int, _ now: MonotonicInstant) {
    entries.items[slot].phase = .running
    entries.items[slot].started = now
    running += 1
    let (origin, group) = (entries.items[slot].origin, entries.items[slot].group)
    for tag in groups.items[group].tags { tags.items[tag].running += 1 }
    origins.items[origin].running += 1
    if isFull(origin) { rankLines(of: origin) }
  }

  private mutating func stop(_ slot: Int) {
    stopTags(slot)
    stopOrigin(slot)
  }

  private mutating func stopTags(_ slot: Int) {
    for tag in groups.items[entries.items[slot].group].tags { tags.items[tag].running -= 1 }
  }

  private mutating func stopOrigin(_ slot: Int) {
    running -= 1
    let origin = entries.items[slot].origin
    let wasFull = isFull(origin)
    origins.items[origin].running -= 1
    if wasFull { rankLines(of: origin) }
  }

  private mutating func wait(_ slot: Int, in queue: Int, from instant: MonotonicInstant) {
    entries.items[slot].phase = .waiting
    entries.items[slot].rank = Rank(instant: instant, number: nextNumber)
    nextNumber += 1
    waiting += 1
    if let latest = latestStart(of: slot) { deadlines.set(slot, to: latest) }
    lineUp(slot, in: queue)
  }

  private mutating func stopWaiting(_ slot: Int) {
    waiting -= 1
    deadlines.remove(slot)
    leaveLine(slot)
  }

  // MARK: Lines

  private func first(of line: Int) -> Int? {
    var first: Int?
    for queue in lines.items[line].queues where queue.head >= 0 {
      if let first, entries.items[first].rank < entries.items[queue.head].rank { continue }
      first = queue.head
    }
    return first
  }

  /// Appends an attempt to a queue of its line. Ranks increase with arrival, so the queue stays in order.
  private mutating func lineUp(_ slot: Int, in queue: Int) {
    let line = lineSlot(entries.items[slot].origin, entries.items[slot].group)
    let tail = lines.items[line].queues[queue].tail
    entries.items[slot].line = line
    entries.items[slot].queue = queue
    entries.items[slot].previous = tail
    entries.items[slot].next = -1
    lines.items[line].queues[queue].tail = slot
    lines.items[line].count += 1
    if tail >= 0 {
      entries.items[tail].next = slot
    } else {
      lines.items[line].queues[queue].head = slot
      rank(line)
    }
  }

  private mutating func leaveLine(_ slot: Int) {
    let (line, queue) = (entries.items[slot].line, entries.items[slot].queue)
    let (previous, next) = (entries.items[slot].previous, entries.items[slot].next)
    if next >= 0 {
      entries.items[next].previous = previous
    } else {
      lines.items[line].queues[queue].tail = previous
    }
    lines.items[line].count -= 1
    if previous >= 0 {
      entries.items[previous].next = next
    } else {
      lines.items[line].queues[queue].head = next
      rank(line)
    }
    if lines.items[line].count == 0 { drop(line) }
  }

  /// Ranks the lines of an origin that became full or has room again.
  private mutating func rankLines(of origin: Int) {
    for line in origins.items[origin].lines { rank(line) }
  }

  /// Ranks a line in its group's heap by its first attempt; a line whose origin is full is not in the heap.
  private mutating func rank(_ line: Int) {
    let group = lines.items[line].group
    if !isFull(lines.items[line].origin), let first = first(of: line) {
      groups.items[group].lines.set(line, to: entries.items[first].rank)
    } else {
      groups.items[group].lines.remove(line)
    }
  }

  private mutating func lineSlot(_ origin: Int, _ group: Int) -> Int {
    // A linear search, because an origin has at most one line per group in use.
    for line in origins.items[origin].lines where lines.items[line].group == group { return line }
    let line = lines.take(orMake: Line())
    lines.items[line].origin = origin
    lines.items[line].group = group
    origins.items[origin].lines.append(line)
    return line
  }

  private mutating func drop(_ line: Int) {
    origins.items[lines.items[line].origin].lines.removeAll { $0 == line }
    lines.giveBack(line)
  }

  private mutating func moveAll(with tag: Tag, in line: Int, _ queue: Int) {
    var slot = lines.items[line].queues[queue].head
    while slot >= 0 {
      let next = entries.items[slot].next
      if entries.items[slot].tags.contains(tag) { move(slot) }
      slot = next
    }
  }

  /// Moves a waiting attempt to the line for its currently limited or held tags; its rank does not change.
  private mutating func move(_ slot: Int) {
    guard groupSlot(for: entries.items[slot].tags) != entries.items[slot].group else { return }
    let queue = entries.items[slot].queue
    leaveLine(slot)
    regroup(slot)
    lineUp(slot, in: queue)
  }

  // MARK: Entries

  private mutating func addEntry(_ attempt: Attempt) -> Int {
    let slot = entries.take(orMake: Entry())
    let origin = originSlot(attempt.origin)
    let group = groupSlot(for: attempt.tags)
    origins.items[origin].uses += 1
    groups.items[group].uses += 1
    entries.items[slot].origin = origin
    entries.items[slot].group = group
    if !attempt.tags.isEmpty { entries.items[slot].tags = attempt.tags }
    entries.items[slot].deadline = attempt.deadline
    entries.items[slot].isTypical = attempt.isTypical
    return slot
  }

  private mutating func free(_ slot: Int) {
    let (origin, group) = (entries.items[slot].origin, entries.items[slot].group)
    entries.items[slot].phase = .free
    entries.items[slot].turn &+= 1
    if !entries.items[slot].tags.isEmpty { entries.items[slot].tags = [] }
    entries.giveBack(slot)
    dropUse(ofGroup: group)
    origins.items[origin].uses -= 1
    if origins.items[origin].uses == 0, origin != lastOrigin { forgetOrigin(origin) }
  }

  // MARK: Origins

  private mutating func originSlot(_ key: OriginKey) -> Int {
    let last = lastOrigin
    if last >= 0, origins.items[last].key == key {
      // The measurement of an unused origin is outdated.
      if origins.items[last].uses == 0 { origins.items[last].typical = TypicalTime() }
      return last
    }
    let slot = originSlots[key] ?? addOrigin(key)
    lastOrigin = slot
    if last >= 0, origins.items[last].uses == 0 { forgetOrigin(last) }
    return slot
  }

  /// Removes the record of an unused origin, because the number of origins is unbounded.
  private mutating func forgetOrigin(_ origin: Int) {
    originSlots[origins.items[origin].key] = nil
    origins.giveBack(origin)
  }

  private mutating func addOrigin(_ key: OriginKey) -> Int {
    let ownLimit = originLimits[key]
    let limit = ownLimit ?? presetLimit(streams: nil)
    let slot = origins.take(orMake: OriginRecord(limit: limit, key: key))
    origins.items[slot].limit = limit
    origins.items[slot].hasPresetLimit = limits.isPerOriginPreset && ownLimit == nil
    origins.items[slot].key = key
    origins.items[slot].typical = TypicalTime()
    originSlots[key] = slot
    return slot
  }

  // MARK: Groups and tags

  /// Returns the group of attempts with these tags. A new group has no uses yet.
  private mutating func groupSlot(for names: [Tag]) -> Int {
    guard !tagSlots.isEmpty, !names.isEmpty else { return 0 }
    wantedTags.removeAll(keepingCapacity: true)
    for name in names {
      if let slot = tagSlots[name], !wantedTags.contains(slot) { wantedTags.append(slot) }
    }
    guard !wantedTags.isEmpty else { return 0 }
    wantedTags.sort()
    for group in groups.items.indices where groups.items[group].tags == wantedTags { return group }
    let group = groups.take(orMake: Group())
    groups.items[group].tags = wantedTags
    for slot in wantedTags { tags.items[slot].uses += 1 }
    return group
  }

  /// Moves an attempt that is not in a line to the group for its currently limited or held tags.
  private mutating func regroup(_ slot: Int) {
    let old = entries.items[slot].group
    let new = groupSlot(for: entries.items[slot].tags)
    guard new != old else { return }
    groups.items[new].uses += 1
    entries.items[slot].group = new
    dropUse(ofGroup: old)
  }

  private mutating func dropUse(ofGroup group: Int) {
    groups.items[group].uses -= 1
    guard group != 0, groups.items[group].uses == 0 else { return }
    let unused = groups.items[group].tags
    groups.items[group].tags = []
    groups.giveBack(group)
    for slot in unused {
      tags.items[slot].uses -= 1
      forgetTag(slot)
    }
  }

  private mutating func addTag(_ tag: Tag, limit: Int?) -> Int {
    let slot = tags.take(orMake: TagRecord(tag: tag, limit: limit))
    tags.items[slot] = TagRecord(tag: tag, limit: limit)
    tagSlots[tag] = slot
    return slot
  }

  /// Removes a tag that has no limit, is not paused and is in no group.
  private mutating func forgetTag(_ slot: Int) {
    let tag = tags.items[slot]
    guard tag.limit == nil, !tag.isHeld, tag.uses == 0 else { return }
    tagSlots[tag.tag] = nil
    tags.giveBack(slot)
  }
}

// MARK: - Records

extension SchedulerState {
  /// The order in which waiting attempts run, lowest first.
  private struct Rank: Comparable, Hashable, Sendable {
    /// The arrival, plus the ageing for each step of priority.
    let instant: MonotonicInstant
    /// The order of arrival, for attempts with equal instants.
    let number: UInt64

    static func < (lhs: Rank, rhs: Rank) -> Bool {
      lhs.instant == rhs.instant ? lhs.number < rhs.number : lhs.instant < rhs.instant
    }
  }

  /// An attempt with a ticket.
  private struct Entry: Sendable {
    enum Phase: Hashable, Sendable {
      /// The slot is free.
      case free
      case waiting
      /// The attempt has a permit.
      case running
      /// The attempt's streamed content is being read. The attempt counts only toward the limits of its tags.
      case streaming
      /// The attempt has temporarily returned its permit.
      case paused
      case late
      case cancelled
    }

    var phase = Phase.free
    var turn: UInt32 = 0
    var origin = 0
    var group = 0
    var tags: [Tag] = []
    var deadline: MonotonicInstant?
    var isTypical = true
    /// The instant at which the attempt was admitted.
    var started = MonotonicInstant(sinceStart: .zero)

    // For a waiting attempt: its line, and its neighbors in that line's queue for its priority.
    var line = 0
    var queue = 0
    var rank = Rank(instant: MonotonicInstant(sinceStart: .zero), number: 0)
    var previous = -1
    var next = -1
  }

  /// The waiting attempts of one origin and one group.
  ///
  /// Attempts of equal priority run in order of arrival, so a line consists of a linked queue for each priority, and
  /// its first attempt is the queue head with the lowest rank.
  private struct Line: Sendable {
    struct Queue: Sendable {
      var head = -1
      var tail = -1
    }

    var origin = 0
    var group = 0
    var count = 0
    var queues = Array(repeating: Queue(), count: CallPriority.allCases.count)
  }

  /// The attempts with the same limited or held tags. Group 0 has no such tags.
  private struct Group: Sendable {
    /// The slots of the tags, sorted.
    var tags: [Int] = []
    var uses = 0
    /// The lines whose origins have room, by the rank of their first attempt.
    var lines = IndexedHeap<Rank>()
  }

  private struct OriginRecord: Sendable {
    var limit: Int
    var hasPresetLimit = false
    var key: OriginKey
    var running = 0
    /// The number of attempts with a ticket.
    var uses = 0
    var lines: [Int] = []
    var typical = TypicalTime()
    /// The instant at which an attempt last ended.
    var lastEnd = MonotonicInstant(sinceStart: .zero)
  }

  private struct TagRecord: Sendable {
    let tag: Tag
    /// The limit; `nil`: none.
    let limit: Int?
    var running = 0
    var isHeld = false
    /// The number of groups with this tag.
    var uses = 0
  }
}
