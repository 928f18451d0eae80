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
    let size: Int64
    let payload: Payload
  }

  /// An entry without its payload, so that a search copies nothing.
  private struct Head: Sendable {
    /// 0: the slot is free.
    var id: UInt64
    var key: CacheKey
    var size: Int64
  }

  /// The largest number of entries with the same key. A server that varies its responses by a field with a new value
  /// for each request would add entries without end, of which none is ever used.
  static var maximumVariants: Int { 32 }

  /// The maximum number of bytes.
  let capacity: Int64
  /// The number of bytes of all entries.
  private(set) var usage: Int64 = 0
  private var slots = Slots<Head>()
  private var payloads: [Payload?] = []
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

  /// The id of the last entry that was inserted, or a larger number.
  var lastID: UInt64 { serial << 32 | 0xFFFF_FFFF }

  /// The ids of all entries, in no particular order.
  var ids: [UInt64] { slots.items.lazy.map(\.id).filter { $0 != 0 } }

  // MARK: Reading

  /// Calls a function with the id and the payload of each entry of a key.
  func forEach(under key: CacheKey, _ body: (UInt64, Payload) -> Void) {
    var slot = byKey.first(in: key.chain)
    while let current = slot {
      if slots.items[current].key == key, let payload = payloads[current] { body(slots.items[current].id, payload) }
      slot = byKey.next(after: current)
    }
  }

  /// Whether there is an entry of a target.
  func contains(target: KeyedDigest) -> Bool {
    var slot = byTarget.first(in: target.first)
    while let current = slot {
      if slots.items[current].key.target == target { return true }
      slot = byTarget.next(after: current)
    }
    return false
  }

  subscript(id: UInt64) -> Entry? {
    slot(of: id).flatMap { entry(in: $0) }
  }

  private func slot(of id: UInt64) -> Int? {
    let slot = Int(id & 0xFFFF_FFFF)
    guard id != 0, slot < slots.items.count, slots.items[slot].id == id else { return nil }
    return slot
  }

  private func entry(in slot: Int) -> Entry? {
    let head = slots.items[slot]
    return payloads[slot].map { Entry(id: head.id, key: head.key, size: head.size, payload: $0) }
  }

  // MARK: Changes

  /// Makes room for entries.
  mutating func reserve(_ count: Int) {
    slots.items.reserveCapacity(count)
    payloads.reserveCapacity(count)
    byKey.reserve(count)
    byTarget.reserve(count)
  }

  /// Inserts an entry. The caller observes ``entryLimit``, and removes other entries by ``evict(to:)`` and
  /// ``evictVariant(of:)``.
  ///
  /// - Parameters:
  ///   - lastUse: the rank of the last use. Default: later than all others.
  ///   - payload: receives the id of the entry.
  /// - Returns: the id.
  @discardableResult
  mutating func insert(
    _ key: CacheKey, size: Int64, lastUse: Int64? = nil, _ payload: (UInt64) -> Payload
  ) -> UInt64 {
    let slot = slots.take(orMake: Head(id: 0, key: key, size: 0))
    if slot == payloads.count { payloads.append(nil) }
    serial &+= 1
    let id = serial << 32 | UInt64(slot)
    slots.items[slot] = Head(id: id, key: key, size: size)
    payloads[slot] = payload(id)
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
    guard let slot = slot(of: id), var payload = payloads[slot] else { return }
    // Without a second reference the payload changes without a copy.
    payloads[slot] = nil
    change(&payload)
    payloads[slot] = payload
    if let size {
      usage += size - slots.items[slot].size
      slots.items[slot].size = size
    }
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
      guard slots.items[current].key.target == target, let entry = remove(slot: current) else { continue }
      removed.append(entry)
    }
    return removed
  }

  /// Removes the entries whose keys meet a condition. Takes time for every entry. Returns them.
  mutating func removeAll(where isRemoved: (CacheKey) -> Bool) -> [Entry] {
    slots.items.indices.compactMap { slot in
      slots.items[slot].id != 0 && isRemoved(slots.items[slot].key) ? remove(slot: slot) : nil
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
    forEach(under: key) { id, _ in
      count += 1
      oldest = min(oldest, id)
    }
    return count > Self.maximumVariants ? remove(oldest) : nil
  }

  private mutating func remove(slot: Int) -> Entry? {
    guard let entry = entry(in: slot) else { return nil }
    slots.items[slot].id = 0
    payloads[slot] = nil
    slots.giveBack(slot)
    byKey.remove(slot, from: entry.key.chain)
    byTarget.remove(slot, from: entry.key.target.first)
    uses.remove(slot)
    usage -= entry.size
    if latest.slot == slot { latest.slot = -1 }
    return entry
  }
}
