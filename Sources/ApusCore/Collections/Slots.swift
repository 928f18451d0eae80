/// An array whose elements are reused, so that a steady load allocates nothing.
package struct Slots<Item: Sendable>: Sendable {
  /// All elements, including the free elements.
  package var items: [Item] = []
  @usableFromInline var free: [Int] = []

  @inlinable package init() {}

  /// The number of elements in use.
  @inlinable package var count: Int { items.count - free.count }

  /// Takes a free element with the content of its last use, or adds an element. Returns its index.
  @inlinable
  package mutating func take(orMake make: @autoclosure () -> Item) -> Int {
    if let slot = free.popLast() { return slot }
    items.append(make())
    return items.count - 1
  }

  @inlinable
  package mutating func giveBack(_ slot: Int) {
    free.append(slot)
  }
}
