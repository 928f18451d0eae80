import ApusCore

/// A rate limit: a token bucket with a refill rate and a burst.
///
/// Calls are spread evenly: after the burst, one call passes each time a token is refilled. By default no period
/// exceeds the rate by more than a tenth, wherever the period begins: with `perSecond(100)` at most 110 calls pass
/// within any second.
public struct RateLimit: Sendable, Hashable {
  /// The time in which one token is refilled.
  let interval: Duration
  /// The capacity of the bucket.
  let burst: Int

  /// The upper bound of a burst and of a cost.
  static let maximum = 1 << 20

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - count: the number of requests, at least 1.
  ///   - time: the period in which `count` requests are allowed; 1 nanosecond to 366 days per request.
  ///   - burst: the number of requests that can be sent without waiting when the bucket is full, as it is after an idle
  ///     time, at least 1. Up to `count + burst` requests can then pass within one period. Default: a tenth of `count`.
  public init(_ count: Int, per time: Duration, burst: Int? = nil) {
    let count = max(1, count)
    // Clamped, so that instants stay within the range of a clock.
    interval = min(max(time / count, .nanoseconds(1)), .seconds(366 * 24 * 60 * 60))
    self.burst = min(max(burst ?? count / 10, 1), Self.maximum)
  }

  /// Creates a limit in requests per second. Default burst: a tenth of `count`, at least 1.
  public static func perSecond(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(1), burst: burst)
  }

  /// Creates a limit in requests per minute. Default burst: a tenth of `count`, at least 1.
  public static func perMinute(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(60), burst: burst)
  }
}

/// The reason why the ``RateLimiter`` refused a call.
///
/// It is the cause of the ``CallError`` with code `refused` that such a call throws: `error.underlying as?
/// RateLimitRefusal`. The error's `retryAfter` is the time that the call would have had to wait.
public enum RateLimitRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// Tokens would have been available only after the deadline of the call, or of the attempt (10 seconds by default):
  /// `attemptTimeout(_:)` of an endpoint, or the client's `attemptTimeout`, allows a longer wait.
  case deadlineTooNear
  /// The queue is full.
  case queueFull

  /// The reason as a clause, without a full stop.
  public var description: String {
    switch self {
    case .deadlineTooNear: "the rate limit allows the call only after its deadline"
    case .queueFull: "the rate limiter's queue is full"
    }
  }

  /// Returns the error of the attempt, which was not sent.
  ///
  /// - Parameter delay: the time that the call would have had to wait.
  func error(retryAfter delay: Duration) -> TransportError {
    var error = TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
    (error.retryAfter, error.source) = (delay, .trafficControl)
    return error
  }
}

/// The refusal of one call, with the time that the call would have had to wait.
struct DelayedCall: Error, Hashable {
  let reason: RateLimitRefusal
  let delay: Duration
}
