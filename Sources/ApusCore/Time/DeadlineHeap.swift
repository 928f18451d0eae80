/// A priority queue of deadlines whose entries can be taken out again: pure, no clock and no tasks.
///
/// A binary heap of entries plus, for each entry, its present position. Deadlines are mostly added in
/// order and mostly removed before they pass, so adding is usually one append and removing one swap.
struct DeadlineHeap<Element> {
  struct Entry {
    let instant: MonotonicInstant
    let key: UInt64
    let element: Element
  }

  private var entries: [Entry] = []
  private var positions: [UInt64: Int] = [:]

  var count: Int { entries.count }
  var earliest: MonotonicInstant? { entries.first?.instant }

  /// Adds an entry under a key that is not in use.
  mutating func insert(_ element: Element, at instant: MonotonicInstant, key: UInt64) {
    entries.append(Entry(instant: instant, key: key, element: element))
    positions[key] = entries.count - 1
    siftUp(from: entries.count - 1)
  }

  /// Takes the entry with `key` out, if it is still there.
  @discardableResult
  mutating func remove(key: UInt64) -> Element? {
    guard let position = positions.removeValue(forKey: key) else { return nil }
    let removed = entries[position]
    let last = entries.removeLast()
    if position < entries.count {
      entries[position] = last
      positions[last.key] = position
      siftUp(from: position)
      siftDown(from: position)
    }
    return removed.element
  }

  /// Takes out every entry whose instant is at or before `now`, earliest first.
  mutating func removeExpired(at now: MonotonicInstant) -> [Element] {
    var expired: [Element] = []
    while let first = entries.first, first.instant <= now, let element = remove(key: first.key) {
      expired.append(element)
    }
    return expired
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
      for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
        if entries[child].instant < entries[smallest].instant { smallest = child }
      }
      guard smallest != parent else { return }
      swap(parent, smallest)
      parent = smallest
    }
  }

  private mutating func swap(_ first: Int, _ second: Int) {
    entries.swapAt(first, second)
    positions[entries[first].key] = first
    positions[entries[second].key] = second
  }
}
