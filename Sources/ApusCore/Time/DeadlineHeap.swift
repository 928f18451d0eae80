/// A priority queue of deadlines with removable entries. A pure data structure without clock and tasks.
///
/// A binary heap plus the position of each key's entry. Most deadlines are added in order and removed before they pass,
/// so adding is usually one append and removing one swap. Keys are indices of reused cells, so that nothing is hashed
/// and a steady load allocates nothing.
struct DeadlineHeap<Element> {
  /// The handle of an entry. Finds nothing once the entry is removed.
  struct Key: Hashable, Sendable {
    fileprivate let cell: Int
    fileprivate let generation: UInt32
  }

  private struct Entry {
    let instant: MonotonicInstant
    let cell: Int
    let element: Element
  }

  private struct Cell {
    var position: Int?
    /// The number of past uses, so that an old key never finds a new entry.
    var generation: UInt32
  }

  private var entries: [Entry] = []
  private var cells: [Cell] = []
  private var freeCells: [Int] = []

  var count: Int { entries.count }
  var earliest: MonotonicInstant? { entries.first?.instant }

  mutating func insert(_ element: Element, at instant: MonotonicInstant) -> Key {
    let cell = freeCells.popLast() ?? cells.count
    if cell == cells.count { cells.append(Cell(position: nil, generation: 0)) }
    entries.append(Entry(instant: instant, cell: cell, element: element))
    cells[cell].position = entries.count - 1
    siftUp(from: entries.count - 1)
    return Key(cell: cell, generation: cells[cell].generation)
  }

  /// Removes and returns the entry with `key`, if it still exists.
  @discardableResult
  mutating func remove(_ key: Key) -> Element? {
    guard cells[key.cell].generation == key.generation, let position = cells[key.cell].position else { return nil }
    return remove(at: position)
  }

  /// Removes and returns the entries at or before `now`, earliest first.
  mutating func removeExpired(at now: MonotonicInstant) -> [Element] {
    var expired: [Element] = []
    while let first = entries.first, first.instant <= now { expired.append(remove(at: 0)) }
    return expired
  }

  private mutating func remove(at position: Int) -> Element {
    let removed = entries[position]
    cells[removed.cell].position = nil
    cells[removed.cell].generation &+= 1
    freeCells.append(removed.cell)
    let last = entries.removeLast()
    if position < entries.count {
      entries[position] = last
      cells[last.cell].position = position
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
    cells[entries[first].cell].position = first
    cells[entries[second].cell].position = second
  }
}
