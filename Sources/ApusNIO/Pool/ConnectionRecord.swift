import ApusCore

/// The state of an open connection in a ``PoolState``.
struct ConnectionRecord: Sendable {
  /// Whether a connection takes exchanges.
  enum Standing: Sendable { case serving, suspended, retired }

  /// The slot of its origin in the pool.
  let origin: Int
  let openedAt: MonotonicInstant
  /// The maximum number of exchanges at a time.
  var capacity: Int
  /// The number of exchanges on the connection.
  var uses = 0
  /// The start of the idle time; `nil` while the connection carries an exchange.
  var idleSince: MonotonicInstant?
  var standing = Standing.serving
  /// Whether the connection is in the list of its origin's free connections.
  var isListed = false

  init(origin: Int, capacity: Int, openedAt instant: MonotonicInstant) {
    self.origin = origin
    self.capacity = capacity
    openedAt = instant
    idleSince = instant
  }

  /// Whether the connection may take another exchange.
  var isFree: Bool { standing == .serving && uses < capacity }

  /// Whether the connection has reached neither the idle timeout nor the maximum age.
  func isUsable(within limits: PoolLimits, now: MonotonicInstant) -> Bool {
    if let since = idleSince, since.duration(to: now) >= limits.idleTimeout { return false }
    return !isAged(within: limits, now: now)
  }

  /// Whether the connection has reached the maximum age.
  func isAged(within limits: PoolLimits, now: MonotonicInstant) -> Bool {
    guard let age = limits.maximumAge else { return false }
    return openedAt.duration(to: now) >= age
  }
}
