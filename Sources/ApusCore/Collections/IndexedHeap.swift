/// A priority queue of small numbers, such as slots of an array, whose ranks can change and which can be removed from
/// the middle. A pure value.
///
/// The position of each number is kept in an array, so nothing is hashed and a steady load allocates nothing. Every
/// change takes logarithmic time.
@usableFromInline
package struct IndexedHeap<Rank: Comparable & Sendable>: Sendable {
  @usableFromInline
  package struct Entry: Sendable {
    @usableFromInline package var rank: Rank
    @usableFromInline package let id: Int

    @inlinable
    init(rank: Rank, id: Int) {
      self.rank = rank
      self.id = id
    }
  }

  @usableFromInline var entries: [Entry] = []
  /// The position of each number in `entries`; -1 if the number is not in the heap.
  @usableFromInline var positions: [Int] = []

  @inlinable package init() {}

  @inlinable package var count: Int { entries.count }

  /// The entry with the lowest rank.
  @inlinable package var first: Entry? { entries.first }

  /// Inserts a number, or changes its rank.
  @inlinable
  package mutating func set(_ id: Int, to rank: Rank) {
    if id >= positions.count {
      positions.append(contentsOf: repeatElement(-1, count: id + 1 - positions.count))
    }
    guard positions[id] >= 0 else {
      positions[id] = entries.count
      entries.append(Entry(rank: rank, id: id))
      return siftUp(from: entries.count - 1)
    }
    entries[positions[id]].rank = rank
    siftUp(from: positions[id])
    siftDown(from: positions[id])
  }

  /// Removes a number. Does nothing if the number is not in the heap.
  @inlinable
  package mutating func remove(_ id: Int) {
    guard id < positions.count, positions[id] >= 0 else { return }
    let position = positions[id]
    positions[id] = -1
    let last = entries.removeLast()
    guard position < entries.count else { return }
    entries[position] = last
    positions[last.id] = position
    siftUp(from: position)
    siftDown(from: positions[last.id])
  }

  @inlinable
  mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].rank < entries[parent].rank else { return }
      swap(child, parent)
      child = parent
    }
  }

  @inlinable
  mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var lowest = parent
      let left = 2 * parent + 1
      if left < entries.count, entries[left].rank < entries[lowest].rank { lowest = left }
      if left + 1 < entries.count, entries[left + 1].rank < entries[lowest].rank { lowest = left + 1 }
      guard lowest != parent else { return }
      swap(parent, lowest)
      parent = lowest
    }
  }

  @inlinable
  mutating func swap(_ first: Int, _ second: Int) {
    entries.swapAt(first, second)
    positions[entries[first].id] = first
    positions[entries[second].id] = second
  }
}
