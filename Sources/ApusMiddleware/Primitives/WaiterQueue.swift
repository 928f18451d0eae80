/// A first-in, first-out queue from which any element can be removed in amortized constant time. A pure value.
struct WaiterQueue<Waiter: Hashable>: Hashable {
  private var present: Set<Waiter> = []
  /// The elements in order, from `start` on. It may still contain removed elements.
  private var line: [Waiter] = []
  private var start = 0

  var count: Int { present.count }
  var isEmpty: Bool { present.isEmpty }
  /// All elements, in order.
  var all: [Waiter] { line[start...].filter { present.contains($0) } }
  /// The length of the storage, for tests.
  var storageCount: Int { line.count }

  mutating func append(_ waiter: Waiter) {
    present.insert(waiter)
    line.append(waiter)
  }

  mutating func remove(_ waiter: Waiter) {
    guard present.remove(waiter) != nil else { return }
    compact()
  }

  mutating func popFirst() -> Waiter? {
    while start < line.count {
      let waiter = line[start]
      start += 1
      guard present.remove(waiter) != nil else { continue }
      if present.isEmpty { (line, start) = ([], 0) } else { compact() }
      return waiter
    }
    return nil
  }

  mutating func popAll() -> [Waiter] {
    defer { self = WaiterQueue() }
    return all
  }

  /// Discards removed elements once they are the majority.
  private mutating func compact() {
    guard line.count > 2 * present.count + 64 else { return }
    line = all
    start = 0
  }
}
