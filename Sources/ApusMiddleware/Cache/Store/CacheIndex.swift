import ApusCore

/// The entries of a cache by key, with their sizes and their order of use. A pure state machine.
///
/// Several entries may have the same key: the variants of a response. All changes of one entry take logarithmic time.
struct CacheIndex<Payload: Sendable>: Sendable {
  struct Entry: Sendable {
    /// Unique among the entries of the index, and larger than the ids of entries that were inserted before.
    let id: UInt64
    let key: CacheKey
    /// The number of bytes for which the entry counts.
    fileprivate(set) var size: Int64
    var payload: Payload
  }

  /// The largest number of entries with the same key. A server that varies its responses by a field with a new value for
  /// each request would add entries without end, of which none is ever used.
  static var maximumVariants: Int { 32 }

  /// The maximum number of bytes.
  let capacity: Int64
  /// The number of bytes of all entries.
  private(set) var usage: Int64 = 0
  private var slots = Slots<Entry?>()
  private var byKey = SlotChains()
  private var byTarget = SlotChains()
  private var uses = IndexedHeap<Int64>()
  /// The rank of the last use, and its slot.
  private var latest: (rank: Int64, slot: Int) = (.min, -1)
  private var serial: UInt64 = 0

  init(capacity: Int64) {
    self.capacity = capacity
  }

  /// The number of entries.
  var count: Int { slots.count }

  /// The largest size of an entry: an eighth of the capacity, at most 16 MiB.
  var entryLimit: Int64 { min(capacity / 8, 16 << 20) }

  // MARK: Reading

  /// Calls a function with each entry of a key.
  func forEach(under key: CacheKey, _ body: (Entry) -> Void) {
    var slot = byKey.first(in: key.chain)
    while let current = slot {
      if let entry = slots.items[current], entry.key == key { body(entry) }
      slot = byKey.next(after: current)
    }
  }

  /// Calls a function with each entry, in no particular order.
  func forEach(_ body: (Entry) -> Void) {
    for case .some(let entry) in slots.items { body(entry) }
  }

  subscript(id: UInt64) -> Entry? {
    slot(of: id).flatMap { slots.items[$0] }
  }

  private func slot(of id: UInt64) -> Int? {
    let slot = Int(id & 0xFFFF_FFFF)
    guard slot < slots.items.count, slots.items[slot]?.id == id else { return nil }
    return slot
  }

  // MARK: Changes

  /// Makes room for entries.
  mutating func reserve(_ count: Int) {
    slots.items.reserveCapacity(count)
    byKey.reserve(count)
    byTarget.reserve(count)
  }

  /// Inserts an entry. The caller removes others by ``evict(to:)`` and ``evictVariant(of:)``.
  ///
  /// - Parameters:
  ///   - lastUse: the rank of the last use. Default: later than all others.
  ///   - payload: receives the id of the entry.
  /// - Returns: the id. `nil`: the entry is larger than ``entryLimit``.
  @discardableResult
  mutating func insert(
    _ key: CacheKey, size: Int64, lastUse: Int64? = nil, _ payload: (UInt64) -> Payload
  ) -> UInt64? {
    guard size <= entryLimit else { return nil }
    let slot = slots.take(orMake: nil)
    serial &+= 1
    let id = serial << 32 | UInt64(slot)
    slots.items[slot] = Entry(id: id, key: key, size: size, payload: payload(id))
    byKey.insert(slot, into: key.chain)
    byTarget.insert(slot, into: key.target.first)
    usage += size
    rank(slot, lastUse ?? latest.rank + 1)
    return id
  }

  /// Changes an entry in place.
  ///
  /// - Parameter size: the new size. Default: the same size.
  mutating func update(_ id: UInt64, size: Int64? = nil, _ change: (inout Payload) -> Void) {
    guard let slot = slot(of: id), var entry = slots.items[slot] else { return }
    // Without a second reference the payload changes without a copy.
    slots.items[slot] = nil
    change(&entry.payload)
    if let size {
      usage += size - entry.size
      entry.size = size
    }
    slots.items[slot] = entry
  }

  /// Records that an entry was used now.
  mutating func use(_ id: UInt64) {
    guard let slot = slot(of: id), slot != latest.slot else { return }
    rank(slot, latest.rank + 1)
  }

  /// Records when an entry was used. Ranks must not be mixed with ``use(_:)``.
  mutating func use(_ id: UInt64, at rank: Int64) {
    if let slot = slot(of: id) { self.rank(slot, rank) }
  }

  private mutating func rank(_ slot: Int, _ rank: Int64) {
    uses.set(slot, to: rank)
    if rank >= latest.rank { latest = (rank, slot) }
  }

  // MARK: Removal

  @discardableResult
  mutating func remove(_ id: UInt64) -> Entry? {
    slot(of: id).flatMap { remove(slot: $0) }
  }

  /// Removes the entries of a target, of all accounts. Returns them.
  mutating func removeAll(ofTarget target: KeyedDigest) -> [Entry] {
    var removed: [Entry] = []
    var slot = byTarget.first(in: target.first)
    while let current = slot {
      slot = byTarget.next(after: current)
      guard slots.items[current]?.key.target == target, let entry = remove(slot: current) else { continue }
      removed.append(entry)
    }
    return removed
  }

  /// Removes the entries that meet a condition. Takes time for every entry. Returns them.
  mutating func removeAll(where isRemoved: (Entry) -> Bool) -> [Entry] {
    slots.items.indices.compactMap { slot in
      slots.items[slot].map(isRemoved) ?? false ? remove(slot: slot) : nil
    }
  }

  /// Removes everything. Ids are not used again.
  mutating func removeAll() {
    let last = serial
    self = CacheIndex(capacity: capacity)
    serial = last
  }

  /// Removes the least recently used entries until the usage is at most a limit. Returns them.
  mutating func evict(to limit: Int64) -> [Entry] {
    var evicted: [Entry] = []
    while usage > limit, let oldest = uses.first, let entry = remove(slot: oldest.id) { evicted.append(entry) }
    return evicted
  }

  /// Removes the entry of a key that was inserted first, if the key has more than ``maximumVariants``. Returns it.
  mutating func evictVariant(of key: CacheKey) -> Entry? {
    var (count, oldest) = (0, UInt64.max)
    forEach(under: key) { entry in
      count += 1
      oldest = min(oldest, entry.id)
    }
    return count > Self.maximumVariants ? remove(oldest) : nil
  }

  private mutating func remove(slot: Int) -> Entry? {
    guard let entry = slots.items[slot] else { return nil }
    slots.items[slot] = nil
    slots.giveBack(slot)
    byKey.remove(slot, from: entry.key.chain)
    byTarget.remove(slot, from: entry.key.target.first)
    uses.remove(slot)
    usage -= entry.size
    if latest.slot == slot { latest.slot = -1 }
    return entry
  }
}
