/// How many requests may be sent within a time: a bucket that fills steadily, and of which each request takes its part.
public struct RateLimit: Sendable, Hashable {
  /// The time in which one request's worth comes back.
  let interval: Duration
  /// How many may be sent at once after a quiet time.
  let burst: Int

  /// No more tokens are there, or taken, at once.
  static let most = 1 << 20

  /// Makes a limit.
  ///
  /// - Parameters:
  ///   - count: how many requests; at least 1.
  ///   - time: within which time; from a nanosecond to a year for each.
  ///   - burst: how many of them may be sent at once, at least 1. Default: `count`.
  public init(_ count: Int, per time: Duration, burst: Int? = nil) {
    let count = max(1, count)
    // Bounded, so that what is counted stays within the range of a clock.
    interval = min(max(time / count, .nanoseconds(1)), .seconds(366 * 24 * 60 * 60))
    self.burst = min(max(burst ?? count, 1), Self.most)
  }

  /// So many a second.
  public static func perSecond(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(1), burst: burst)
  }

  /// So many a minute.
  public static func perMinute(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(60), burst: burst)
  }
}
