/// The connections and the waiters of one origin in a ``PoolState``.
struct OriginRecord<Key: Hashable & Sendable, ConnectionID: Hashable & Sendable, WaiterID: Hashable & Sendable>:
  Sendable
{
  struct Free: Sendable {
    let connection: ConnectionID
    /// The slot of the connection in the pool.
    let slot: Int
  }

  let key: Key
  /// The capacity that a connection to the origin reported last, or the assumed capacity; at least 1.
  var capacity: Int
  /// Whether the origin was restricted to HTTP/1.1 when this record was created, or when its last connection was made.
  var isRestricted: Bool
  /// The free connections. The connection that became free last is at the end.
  var free: [Free] = []
  var waiters = RemovableQueue<WaiterID>()
  /// The number of open connections.
  var open = 0
  /// The number of open connections that are suspended or retired.
  var withheld = 0
  /// The connection attempts under way, the earliest first: for each the number of waiters, over all origins, that had
  /// arrived before the attempt started.
  var attempts: [UInt64] = []

  init(key: Key, capacity: Int, isRestricted: Bool) {
    self.key = key
    self.capacity = capacity
    self.isRestricted = isRestricted
  }

  /// The number of connections that are open or being made.
  var held: Int { open + attempts.count }
  /// The number of connections that count toward the limit per origin.
  var counted: Int { held - withheld }
  var isEmpty: Bool { held == 0 && waiters.isEmpty }
  /// The number of exchanges that a new connection is expected to carry at a time.
  var expected: Int { isRestricted ? 1 : capacity }
  /// Whether the connection attempts under way suffice for all waiters.
  var hasEnoughAttempts: Bool { waiters.count <= room(of: attempts.count) }
  /// The number of waiters for which no connection is being made.
  var unserved: Int { max(0, waiters.count - room(of: attempts.count)) }

  /// Returns the number of waiters that a number of connection attempts is expected to suffice for.
  func room(of attempts: Int) -> Int {
    let (product, isBeyond) = attempts.multipliedReportingOverflow(by: expected)
    return isBeyond ? .max : product
  }
}
