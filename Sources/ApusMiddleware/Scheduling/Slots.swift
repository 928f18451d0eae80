/// An array whose elements are reused, so that a steady load allocates nothing.
struct Slots<Item: Sendable>: Sendable {
  /// All elements, the free ones included.
  var items: [Item] = []
  private var free: [Int] = []

  /// The number of elements in use.
  var count: Int { items.count - free.count }

  /// Takes a free element with the content of its last use, or adds an element. Returns its index.
  mutating func take(orMake make: @autoclosure () -> Item) -> Int {
    if let slot = free.popLast() { return slot }
    items.append(make())
    return items.count - 1
  }

  mutating func giveBack(_ slot: Int) {
    free.append(slot)
  }
}
