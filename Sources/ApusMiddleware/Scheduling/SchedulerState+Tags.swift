import ApusCore

/// Limits of tags, and what is held.
extension SchedulerState {
  /// Lets nobody with a tag go any more; those that run go on.
  mutating func hold(_ tag: Tag) {
    if let slot = tagSlots[tag] {
      tags.items[slot].isHeld = true
      return
    }
    let slot = addTag(tag, limit: nil)
    tags.items[slot].isHeld = true
    // Nobody was told apart by this tag before. Each queue is gone through in order, so those that move keep theirs.
    for line in lines.items.indices {
      for queue in lines.items[line].queues.indices { moveAll(with: tag, in: line, queue) }
    }
  }

  /// Lets those with a tag go again.
  mutating func release(_ tag: Tag) {
    guard let slot = tagSlots[tag] else { return }
    tags.items[slot].isHeld = false
    forgetTag(slot)
  }

  func isHolding(_ tag: Tag) -> Bool {
    tagSlots[tag].map { tags.items[$0].isHeld } ?? false
  }

  /// Why nobody in a group can go, as far as its tags are concerned.
  func cause(in group: Int) -> WaitingCause? {
    for slot in groups.items[group].tags {
      if tags.items[slot].isHeld { return .held }
      if let limit = tags.items[slot].limit, tags.items[slot].running >= limit { return .tag(limit: limit) }
    }
    return nil
  }

  // MARK: Groups

  /// The group of those with these tags; a new one has no use yet.
  mutating func groupSlot(for names: [Tag]) -> Int {
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

  /// Puts one that does not wait into the group that it belongs to by now.
  mutating func regroup(_ slot: Int) {
    let old = entries.items[slot].group
    let new = groupSlot(for: entries.items[slot].tags)
    guard new != old else { return }
    groups.items[new].uses += 1
    entries.items[slot].group = new
    dropUse(ofGroup: old)
  }

  mutating func dropUse(ofGroup group: Int) {
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

  private mutating func moveAll(with tag: Tag, in line: Int, _ queue: Int) {
    var slot = lines.items[line].queues[queue].head
    while slot >= 0 {
      let next = entries.items[slot].next
      if entries.items[slot].tags.contains(tag) { move(slot) }
      slot = next
    }
  }

  /// Moves one that waits to the line that it belongs to by now; its rank stays.
  private mutating func move(_ slot: Int) {
    guard groupSlot(for: entries.items[slot].tags) != entries.items[slot].group else { return }
    let queue = entries.items[slot].queue
    leaveLine(slot)
    regroup(slot)
    lineUp(slot, in: queue)
  }

  // MARK: Tags

  mutating func addTag(_ tag: Tag, limit: Int?) -> Int {
    let slot = tags.take(orMake: TagRecord(tag: tag, limit: limit))
    tags.items[slot] = TagRecord(tag: tag, limit: limit)
    tagSlots[tag] = slot
    return slot
  }

  /// Those that come are told apart by a tag only as long as it matters to somebody.
  private mutating func forgetTag(_ slot: Int) {
    let tag = tags.items[slot]
    guard tag.limit == nil, !tag.isHeld, tag.uses == 0 else { return }
    tagSlots[tag.tag] = nil
    tags.giveBack(slot)
  }
}
