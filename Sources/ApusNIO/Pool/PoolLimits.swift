import ApusCore

/// The limits on a pool's connections.
struct PoolLimits: Sendable, Hashable {
  /// The maximum number of connections to one origin, pending connections included; at least 1. Default: 5.
  var connectionsPerOrigin = 5
  /// The maximum number of connections to all origins, pending connections included; at least 1. Default: 256.
  var connections = 256
  /// The maximum number of waiters over all origins. A waiter for which a connection is being made does not count
  /// toward this limit. Default: no limit.
  var waiting = Int.max
  /// The time after which an idle connection is closed. Default: 60 s; servers commonly close after 60 to 75 s.
  var idleTimeout = Duration.seconds(60)
  /// The age beyond which a connection is closed instead of reused; `nil` for no limit.
  var maximumAge: Duration?
}
