#if NIO
  /// How many connections there may be, and for how long.
  struct PoolLimits: Sendable, Hashable {
    /// The most connections to one origin, those being made included; at least 1. Default 5.
    var connectionsPerOrigin = 5
    /// The most connections in all, those being made included; at least 1. Default 256.
    var connections = 256
    /// The most that may wait for a connection of others, all origins together; who has one made is not counted. No
    /// limit unless set.
    var waiting = Int.max
    /// How long a connection may lie unused before it is closed. Default 60 s; servers commonly close after 60 to 75.
    var idleTimeout = Duration.seconds(60)
    /// How old a connection may become before it is closed instead of used again; `nil` for any age.
    var maximumAge: Duration?
  }
#endif
