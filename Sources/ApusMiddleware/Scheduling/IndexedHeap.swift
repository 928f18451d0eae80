/// A priority queue of numbers, whose ranks can change and which can leave from the middle: pure.
///
/// Numbers are small and used again, such as places in an array: where each one stands is kept in an array as well. So
/// nothing is hashed, and a steady load allocates nothing. Every change takes time in the logarithm of the count.
struct IndexedHeap<Rank: Comparable & Sendable>: Sendable {
  struct Entry: Sendable {
    var rank: Rank
    let id: Int
  }

  private var entries: [Entry] = []
  /// Where each number stands; -1: nowhere.
  private var positions: [Int] = []

  var count: Int { entries.count }

  /// The one with the lowest rank.
  var first: Entry? { entries.first }

  /// Puts a number in, or gives the one that is in another rank.
  mutating func set(_ id: Int, to rank: Rank) {
    if id >= positions.count {
      positions.append(contentsOf: repeatElement(-1, count: id + 1 - positions.count))
    }
    if positions[id] >= 0 {
      entries[positions[id]].rank = rank
    } else {
      positions[id] = entries.count
      entries.append(Entry(rank: rank, id: id))
    }
    siftUp(from: positions[id])
    siftDown(from: positions[id])
  }

  /// Takes a number out, if it is in.
  mutating func remove(_ id: Int) {
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

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].rank < entries[parent].rank else { return }
      swap(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(from start: Int) {
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

  private mutating func swap(_ first: Int, _ second: Int) {
    entries.swapAt(first, second)
    positions[entries[first].id] = first
    positions[entries[second].id] = second
  }
}
