/// An entry of a dynamic table.
protocol FieldTableEntry: AnyObject, Sendable {
  /// The number of bytes of the name and the value, plus 32 (RFC 7541 §4.1).
  var size: Int { get }
}

/// A dynamic table (RFC 7541 §2.3.2). The newest entry has the index 0.
struct FieldTable<Entry: FieldTableEntry>: Sendable {
  /// A ring buffer whose number of slots is a power of two. Eviction sets a slot to `nil`, which frees the entry.
  private var slots: [Entry?] = []
  /// The slot for the next insertion.
  private var next = 0
  private(set) var count = 0
  /// The sum of the entries' sizes.
  private(set) var size = 0
  /// The maximum of ``size``.
  private(set) var maximumSize: Int

  init(maximumSize: Int) {
    self.maximumSize = maximumSize
  }

  /// Returns the entry at an index, or `nil` if the index is beyond the oldest entry.
  @inline(__always)
  subscript(index: Int) -> Entry? {
    guard index >= 0, index < count else { return nil }
    return slots[slot(index)]
  }

  @inline(__always)
  private func slot(_ index: Int) -> Int { (next &- 1 &- index) & (slots.count &- 1) }

  /// Evicts the oldest entries until the new entry fits, and adds the new entry. An entry larger than the maximum size
  /// empties the table and is not added (RFC 7541 §4.4).
  mutating func insert(_ entry: Entry) {
    evict(to: maximumSize - entry.size)
    guard entry.size <= maximumSize else { return }
    if count == slots.count { grow() }
    slots[next] = entry
    next = (next + 1) & (slots.count - 1)
    count += 1
    size += entry.size
  }

  /// Changes the maximum size and evicts the oldest entries until the others fit (RFC 7541 §4.3).
  mutating func resize(to maximumSize: Int) {
    self.maximumSize = maximumSize
    evict(to: maximumSize)
  }

  private mutating func evict(to limit: Int) {
    while count > 0, size > limit {
      let oldest = slot(count - 1)
      size -= slots[oldest]?.size ?? 0
      slots[oldest] = nil
      count -= 1
    }
  }

  private mutating func grow() {
    let entries = (0..<count).reversed().map { slots[slot($0)] }
    slots = entries + [Entry?](repeating: nil, count: max(8, count))
    next = count
  }
}
