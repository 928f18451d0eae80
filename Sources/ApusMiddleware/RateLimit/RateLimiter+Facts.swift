public import ApusCore

extension RateLimiter: SelfDescribing {
  /// The limit of each origin, how many wait for it, and how long a server may hold them up.
  public var facts: [Fact] {
    let pace = limit.map { Fact.rate(interval: $0.interval, burst: $0.burst) } ?? .setting("what servers ask for", "")
    return [pace, .setting("queue", "\(capacity)"), .time("a server's pause up to", longestPause)]
  }
}
