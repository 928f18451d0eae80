/// A priority queue of deadlines whose entries can be taken out again: pure, no clock and no tasks.
///
/// A binary heap of entries plus, for each key, the entry's present position. Deadlines are mostly added in
/// order and mostly removed before they pass, so adding is usually one append and removing one swap. Keys
/// are places in an array that are used again, so nothing is hashed and a steady load allocates nothing.
struct DeadlineHeap<Element> {
  /// Stands for one entry; meaningless once the entry is out.
  struct Key: Hashable, Sendable {
    fileprivate let slot: Int
    fileprivate let turn: UInt32
  }

  private struct Entry {
    let instant: MonotonicInstant
    let slot: Int
    let element: Element
  }

  private struct Slot {
    var position: Int?
    /// Counts the uses, so that an old key never finds a new entry.
    var turn: UInt32
  }

  private var entries: [Entry] = []
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []

  var count: Int { entries.count }
  var earliest: MonotonicInstant? { entries.first?.instant }

  /// Adds an entry.
  mutating func insert(_ element: Element, at instant: MonotonicInstant) -> Key {
    let slot = freeSlots.popLast() ?? slots.count
    if slot == slots.count { slots.append(Slot(position: nil, turn: 0)) }
    entries.append(Entry(instant: instant, slot: slot, element: element))
    slots[slot].position = entries.count - 1
    siftUp(from: entries.count - 1)
    return Key(slot: slot, turn: slots[slot].turn)
  }

  /// Takes the entry with `key` out, if it is still there.
  @discardableResult
  mutating func remove(_ key: Key) -> Element? {
    guard slots[key.slot].turn == key.turn, let position = slots[key.slot].position else { return nil }
    return remove(at: position)
  }

  /// Takes out every entry whose instant is at or before `now`, earliest first.
  mutating func removeExpired(at now: MonotonicInstant) -> [Element] {
    var expired: [Element] = []
    while let first = entries.first, first.instant <= now { expired.append(remove(at: 0)) }
    return expired
  }

  private mutating func remove(at position: Int) -> Element {
    let removed = entries[position]
    slots[removed.slot].position = nil
    slots[removed.slot].turn &+= 1
    freeSlots.append(removed.slot)
    let last = entries.removeLast()
    if position < entries.count {
      entries[position] = last
      slots[last.slot].position = position
      siftUp(from: position)
      siftDown(from: position)
    }
    return removed.element
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].instant < entries[parent].instant else { return }
      swap(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var smallest = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < entries.count {
        if entries[child].instant < entries[smallest].instant { smallest = child }
      }
      guard smallest != parent else { return }
      swap(parent, smallest)
      parent = smallest
    }
  }

  private mutating func swap(_ first: Int, _ second: Int) {
    entries.swapAt(first, second)
    slots[entries[first].slot].position = first
    slots[entries[second].slot].position = second
  }
}
