/// Places in an array that are used again, so that a steady load allocates nothing.
struct Slots<Item: Sendable>: Sendable {
  /// What is in the places, those included that are free.
  var items: [Item] = []
  private var free: [Int] = []

  /// How many are taken.
  var count: Int { items.count - free.count }

  /// Takes a place: one that was given back, with what was left in it, or a new one.
  mutating func take(orMake make: @autoclosure () -> Item) -> Int {
    if let slot = free.popLast() { return slot }
    items.append(make())
    return items.count - 1
  }

  /// Gives a place back.
  mutating func giveBack(_ slot: Int) {
    free.append(slot)
  }
}
