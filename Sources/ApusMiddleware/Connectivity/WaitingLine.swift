/// Those who wait, in the order in which they came: any of them may leave, at the same small cost however many wait.
struct WaitingLine<Waiter: Hashable>: Hashable {
  private var present: Set<Waiter> = []
  /// In order, from `start` on, with those among them who have left.
  private(set) var line: [Waiter] = []
  private var start = 0

  var count: Int { present.count }
  var isEmpty: Bool { present.isEmpty }
  /// All of them, in order.
  var all: [Waiter] { line[start...].filter { present.contains($0) } }

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

  /// Removes what has left: so seldom that it costs little for each that leaves.
  private mutating func compact() {
    guard line.count > 2 * present.count + 64 else { return }
    line = all
    start = 0
  }

  mutating func popAll() -> [Waiter] {
    defer { self = WaitingLine() }
    return all
  }
}
