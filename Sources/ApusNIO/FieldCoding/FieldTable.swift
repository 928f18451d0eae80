/// An entry of a dynamic table.
protocol FieldTableEntry: AnyObject, Sendable {
  /// The bytes of name and value, and 32 (RFC 7541 §4.1).
  var size: Int { get }
}

/// A dynamic table (RFC 7541 §2.3.2): a ring of entries, of which the newest has the index 0.
struct FieldTable<Entry: FieldTableEntry>: Sendable {
  /// A ring; its number of slots is a power of two. Slots without an entry contain `nil`, so that evicted text is freed.
  private var slots: [Entry?] = []
  /// The slot of the next entry.
  private var next = 0
  private(set) var count = 0
  /// The sum of the entries' sizes.
  private(set) var size = 0
  /// The maximum of ``size``.
  private(set) var maximumSize: Int

  init(maximumSize: Int) {
    self.maximumSize = maximumSize
  }

  /// Returns an entry; `nil` beyond the oldest one.
  @inline(__always)
  subscript(index: Int) -> Entry? {
    guard index >= 0, index < count else { return nil }
    return slots[slot(index)]
  }

  @inline(__always)
  private func slot(_ index: Int) -> Int { (next &- 1 &- index) & (slots.count &- 1) }

  /// Adds an entry after evicting the oldest ones. An entry above the maximum empties the table and is not added (RFC
  /// 7541 §4.4).
  mutating func insert(_ entry: Entry) {
    evict(to: maximumSize - entry.size)
    guard entry.size <= maximumSize else { return }
    if count == slots.count { grow() }
    slots[next] = entry
    next = (next + 1) & (slots.count - 1)
    count += 1
    size += entry.size
  }

  /// Changes the maximum and evicts the oldest entries above it (RFC 7541 §4.3).
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
