import ApusCore

/// Where those that wait stand.
extension SchedulerState {
  /// Whether an origin has no room.
  func isFull(_ origin: Int) -> Bool {
    origins.items[origin].running >= origins.items[origin].limit
  }

  /// Whoever goes first of a line.
  func first(of line: Int) -> Int? {
    var first: Int?
    for queue in lines.items[line].queues where queue.head >= 0 {
      if let first, entries.items[first].rank < entries.items[queue.head].rank { continue }
      first = queue.head
    }
    return first
  }

  /// Puts one at the end of a queue of its line. Whoever comes later has a higher rank, so a queue stays in order.
  mutating func lineUp(_ slot: Int, in queue: Int) {
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
      show(line)
    }
  }

  mutating func leaveLine(_ slot: Int) {
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
      show(line)
    }
    if lines.items[line].count == 0 { drop(line) }
  }

  /// An origin has room now, or none any more.
  mutating func showLines(of origin: Int) {
    for line in origins.items[origin].lines { show(line) }
  }

  /// Gives a line its place among those that could go, by whoever is first of it.
  private mutating func show(_ line: Int) {
    let group = lines.items[line].group
    if !isFull(lines.items[line].origin), let first = first(of: line) {
      groups.items[group].lines.set(line, to: entries.items[first].rank)
    } else {
      groups.items[group].lines.remove(line)
    }
  }

  private mutating func lineSlot(_ origin: Int, _ group: Int) -> Int {
    // As many as there are combinations of limited or held tags in use.
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

  // MARK: Entries

  mutating func addEntry(_ newcomer: Newcomer) -> Int {
    let slot = entries.take(orMake: Entry())
    let origin = originSlot(newcomer.origin)
    let group = groupSlot(for: newcomer.tags)
    origins.items[origin].uses += 1
    groups.items[group].uses += 1
    entries.items[slot].origin = origin
    entries.items[slot].group = group
    if !newcomer.tags.isEmpty { entries.items[slot].tags = newcomer.tags }
    entries.items[slot].deadline = newcomer.deadline
    entries.items[slot].isTypical = newcomer.isTypical
    return slot
  }

  mutating func free(_ slot: Int) {
    let (origin, group) = (entries.items[slot].origin, entries.items[slot].group)
    entries.items[slot].phase = .free
    entries.items[slot].turn &+= 1
    if !entries.items[slot].tags.isEmpty { entries.items[slot].tags = [] }
    entries.giveBack(slot)
    dropUse(ofGroup: group)
    origins.items[origin].uses -= 1
    if origins.items[origin].uses == 0, origin != lastOrigin { forgetOrigin(origin) }
  }

  private mutating func originSlot(_ key: OriginKey) -> Int {
    let last = lastOrigin
    if last >= 0, origins.items[last].key == key {
      // What it knew of nobody's calls is old.
      if origins.items[last].uses == 0 { origins.items[last].typical = TypicalTime() }
      return last
    }
    let slot = originSlots[key] ?? addOrigin(key)
    lastOrigin = slot
    if last >= 0, origins.items[last].uses == 0 { forgetOrigin(last) }
    return slot
  }

  /// Nothing is remembered of an origin that nobody uses: there may be any number of them.
  private mutating func forgetOrigin(_ origin: Int) {
    originSlots[origins.items[origin].key] = nil
    origins.giveBack(origin)
  }

  private mutating func addOrigin(_ key: OriginKey) -> Int {
    let limit = originLimits[key] ?? max(1, limits.perOrigin)
    let slot = origins.take(orMake: OriginRecord(limit: limit, key: key))
    origins.items[slot].limit = limit
    origins.items[slot].key = key
    origins.items[slot].typical = TypicalTime()
    originSlots[key] = slot
    return slot
  }
}
