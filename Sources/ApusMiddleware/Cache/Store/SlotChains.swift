/// Lists of slots, such as indices of an array. Each list has a number, and each slot is in at most one list. A pure
/// value.
///
/// Every change takes constant time. Slots take 8 bytes each, and lists 12 bytes and more.
struct SlotChains: Sendable {
  private struct Link: Sendable {
    var previous: Int32
    var next: Int32
  }

  private static let none: Int32 = -1

  private var heads: [UInt64: Int32] = [:]
  private var links: [Link] = []

  /// Returns the slot at the start of a list, the one that was inserted last.
  func first(in list: UInt64) -> Int? {
    heads[list].map { Int($0) }
  }

  /// Returns the next slot of the same list.
  func next(after slot: Int) -> Int? {
    let next = links[slot].next
    return next == Self.none ? nil : Int(next)
  }

  /// Inserts a slot at the start of a list. The slot must be in no list.
  mutating func insert(_ slot: Int, into list: UInt64) {
    if slot >= links.count {
      let free = Link(previous: Self.none, next: Self.none)
      links.append(contentsOf: repeatElement(free, count: slot + 1 - links.count))
    }
    let head = heads.updateValue(Int32(slot), forKey: list)
    links[slot] = Link(previous: Self.none, next: head ?? Self.none)
    if let head { links[Int(head)].previous = Int32(slot) }
  }

  /// Removes a slot from its list.
  mutating func remove(_ slot: Int, from list: UInt64) {
    let link = links[slot]
    if link.next != Self.none { links[Int(link.next)].previous = link.previous }
    if link.previous != Self.none {
      links[Int(link.previous)].next = link.next
    } else if link.next != Self.none {
      heads[list] = link.next
    } else {
      heads[list] = nil
    }
  }

  /// Makes room for slots.
  mutating func reserve(_ count: Int) {
    heads.reserveCapacity(count)
    links.reserveCapacity(count)
  }
}
