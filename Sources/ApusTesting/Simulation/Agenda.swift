import ApusCore

/// What is to happen when, earliest first, of one instant in the order in which it was planned: pure.
///
/// A heap of instants beside the items. An item that is taken back leaves its instant behind, which is skipped when its
/// turn comes: taking back costs no search.
struct Agenda<Item: Sendable>: Sendable {
  private struct Entry: Sendable {
    let instant: MonotonicInstant
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      instant == other.instant ? number < other.number : instant < other.instant
    }
  }

  private(set) var now = MonotonicInstant(sinceStart: .zero)
  private var heap: [Entry] = []
  private var items: [UInt64: Item] = [:]
  private var lastNumber: UInt64 = 0

  /// How many items there are.
  var count: Int { items.count }

  /// The number of an item that will be planned.
  mutating func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Adds an item; one for an instant that is past comes next, and time does not go back for it.
  mutating func plan(_ item: Item, at instant: MonotonicInstant, number: UInt64) {
    items[number] = item
    heap.append(Entry(instant: max(instant, now), number: number))
    siftUp(from: heap.count - 1)
  }

  /// Takes an item back, if it is still there.
  mutating func cancel(_ number: UInt64) -> Item? {
    items.removeValue(forKey: number)
  }

  /// When the next item is due; `nil` when there is none.
  mutating func nextInstant() -> MonotonicInstant? {
    while let first = heap.first, items[first.number] == nil { removeFirst() }
    return heap.first?.instant
  }

  /// Moves the time on to the next item and gives it; `nil` when there is none.
  mutating func next() -> Item? {
    guard let instant = nextInstant(), let first = heap.first else { return nil }
    now = instant
    removeFirst()
    return items.removeValue(forKey: first.number)
  }

  /// Takes everything out, in the order in which it was planned.
  mutating func removeAll() -> [Item] {
    let all = items.sorted { $0.key < $1.key }.map { $0.value }
    items = [:]
    heap = []
    return all
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var earliest = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < heap.count {
        if heap[child].isBefore(heap[earliest]) { earliest = child }
      }
      guard earliest != parent else { return }
      heap.swapAt(parent, earliest)
      parent = earliest
    }
  }
}
