import ApusCore

/// A rate limit: a token bucket, given by its refill rate and its burst.
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
  ///   - time: the time in which `count` requests are allowed; 1 nanosecond to 366 days per request.
  ///   - burst: the number of requests that can be sent without waiting when the bucket is full, at least 1. Default:
  ///     `count`.
  public init(_ count: Int, per time: Duration, burst: Int? = nil) {
    let count = max(1, count)
    // Bounded, so that instants stay within the range of a clock.
    interval = min(max(time / count, .nanoseconds(1)), .seconds(366 * 24 * 60 * 60))
    self.burst = min(max(burst ?? count, 1), Self.maximum)
  }

  /// Creates a limit in requests per second.
  public static func perSecond(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(1), burst: burst)
  }

  /// Creates a limit in requests per minute.
  public static func perMinute(_ count: Int, burst: Int? = nil) -> RateLimit {
    RateLimit(count, per: .seconds(60), burst: burst)
  }
}

/// The reason why the ``RateLimiter`` refused a call.
///
/// It is the cause of the ``CallError`` with code `refused` that such a call throws: `error.underlying as?
/// RateLimitRefusal`.
public struct RateLimitRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Reason: String, Sendable, Hashable {
    /// Tokens would have been available only after the deadline of the call, or of the attempt (10 seconds by default):
    /// `attemptTimeout(_:)` of an endpoint, or the client's `attemptTimeout`, allows a longer wait.
    case deadlineTooNear
    /// The queue is full.
    case queueFull
  }

  /// The kind of reason.
  public let reason: Reason
  /// The time that the call would have had to wait.
  public let retryAfter: Duration

  init(_ reason: Reason, retryAfter: Duration) {
    self.reason = reason
    self.retryAfter = retryAfter
  }

  /// The reason as a clause, without a full stop.
  public var description: String {
    switch reason {
    case .deadlineTooNear: "the rate limit allows the call only after its deadline"
    case .queueFull: "the rate limiter's queue is full"
    }
  }

  /// The error of the attempt, which was not sent.
  var error: TransportError {
    var error = TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
    (error.retryAfter, error.source) = (retryAfter, .trafficControl)
    return error
  }
}
