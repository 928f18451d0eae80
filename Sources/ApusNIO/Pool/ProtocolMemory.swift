import ApusCore

/// The capacities of recent connections, by origin: the number of exchanges that a connection carried at a time, which
/// is 1 for HTTP/1.1. A pure state machine.
///
/// Beyond the maximum number of origins, the least recently used origin is removed.
struct ProtocolMemory<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var capacity: Int?
    /// The end of the origin's restriction to HTTP/1.1.
    var restrictedUntil: MonotonicInstant?
    var lastUse: UInt64 = 0
  }

  private let limit: Int
  private var entries: [Key: Entry] = [:]
  private var uses: UInt64 = 0

  /// - Parameter limit: the maximum number of origins; at least 1. Default: 1,000.
  init(limit: Int = 1000) {
    self.limit = max(1, limit)
  }

  /// The number of origins.
  var count: Int { entries.count }

  /// Returns the last capacity that a connection to the origin reported; `nil` for an unknown origin.
  mutating func capacity(of key: Key) -> Int? {
    guard let capacity = entries[key]?.capacity else { return nil }
    record(capacity, of: key)
    return capacity
  }

  /// Records the capacity that a connection to the origin reported.
  mutating func record(_ capacity: Int, of key: Key) {
    change(key) { $0.capacity = capacity }
  }

  /// Restricts an origin to HTTP/1.1 until an instant. Never shortens an earlier restriction.
  mutating func restrictToHTTP1(_ key: Key, until instant: MonotonicInstant) {
    change(key) { $0.restrictedUntil = max($0.restrictedUntil ?? instant, instant) }
  }

  /// Whether an origin is not restricted to HTTP/1.1.
  func allowsMultiplexing(_ key: Key, now: MonotonicInstant) -> Bool {
    entries[key]?.restrictedUntil.map { now >= $0 } ?? true
  }

  /// Changes the entry of an origin, which becomes the most recently used entry.
  private mutating func change(_ key: Key, _ change: (inout Entry) -> Void) {
    uses &+= 1
    change(&entries[key, default: Entry()])
    entries[key]?.lastUse = uses
    guard entries.count > limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else {
      return
    }
    entries[oldest] = nil
  }
}
