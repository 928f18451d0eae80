/// A priority queue of deadlines with removable entries. A pure data structure without clock and tasks.
///
/// Most deadlines are added in order and removed before they pass, so adding is usually one append and removing one
/// swap. Keys are indices of reused cells, so that nothing is hashed and a steady load allocates nothing.
struct DeadlineHeap<Element> {
  /// The handle of an entry. Finds nothing once the entry is removed.
  struct Key: Hashable, Sendable {
    fileprivate let cell: Int
    fileprivate let generation: UInt32
  }

  private struct Cell {
    var element: Element?
    /// The number of past uses, so that an old key never finds a new entry.
    var generation: UInt32
  }

  /// The cells in use, ordered by their deadlines.
  private var order = IndexedHeap<MonotonicInstant>()
  private var cells: [Cell] = []
  private var freeCells: [Int] = []

  var count: Int { order.count }
  var earliest: MonotonicInstant? { order.first?.rank }

  mutating func insert(_ element: Element, at instant: MonotonicInstant) -> Key {
    let cell = freeCells.popLast() ?? cells.count
    if cell == cells.count { cells.append(Cell(element: nil, generation: 0)) }
    cells[cell].element = element
    order.set(cell, to: instant)
    return Key(cell: cell, generation: cells[cell].generation)
  }

  /// Removes and returns the entry with `key`, if it still exists.
  @discardableResult
  mutating func remove(_ key: Key) -> Element? {
    guard cells[key.cell].generation == key.generation else { return nil }
    return remove(cell: key.cell)
  }

  /// Removes and returns the entries at or before `now`, earliest first.
  mutating func removeExpired(at now: MonotonicInstant) -> [Element] {
    var expired: [Element] = []
    while let first = order.first, first.rank <= now, let element = remove(cell: first.id) { expired.append(element) }
    return expired
  }

  private mutating func remove(cell: Int) -> Element? {
    guard let element = cells[cell].element.take() else { return nil }
    cells[cell].generation &+= 1
    freeCells.append(cell)
    order.remove(cell)
    return element
  }
}
