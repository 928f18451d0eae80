public import ApusCore
import HTTPTypes
import Synchronization

/// A middleware with a token bucket for each origin. It also pauses an origin for the `Retry-After` of a 429 response
/// (RFC 6585 §4, RFC 9110 §10.2.3), with or without a limit.
///
/// It is inside retry, so that every attempt consumes tokens. Calls to one origin are sent in order of arrival.
///
/// - A call that would have to wait beyond its deadline, or beyond the deadline of its attempt (10 seconds by default),
///   is refused immediately; a queued call is refused as soon as a delay makes it too late. Use `attemptTimeout(_:)` of
///   an endpoint, or the client's `attemptTimeout`, for calls that may wait for longer.
/// - Work on which other calls depend, such as fetching a token (``SharedWorkKey``), consumes tokens but never waits.
/// - The limiter starts no tasks: the first call in the queue sleeps until its tokens are available.
///
/// Several clients may use one limiter and then share its limits.
public final class RateLimiter: Middleware {
  private struct Lanes {
    /// The number of lanes up to which idle lanes are not removed.
    static let fewest = 256

    var all: [OriginKey: RateLimitLane] = [:]
    /// The number of lanes at which idle lanes are removed. It doubles, so adding a lane takes amortized constant time.
    var sweepCount = fewest
  }

  let limit: RateLimit?
  let queueCapacity: Int
  let maximumServerDelay: Duration
  private let cost: @Sendable (RequestMessage, CallContext) -> Int
  private let lanes = Mutex(Lanes())

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - limit: the limit of each origin. Default: `nil`, only the pauses that servers request.
  ///   - queueCapacity: the maximum number of queued calls to one origin; further calls are refused. Default: 1,000.
  ///   - maximumServerDelay: the upper bound of the delay that a server requests. Default: 60 seconds.
  ///   - cost: the cost of a request in tokens, unless its endpoint sets a cost; a request with a cost of 0 or less
  ///     never waits. Default: 1.
  public init(
    _ limit: RateLimit? = nil, queueCapacity: Int = 1000, maximumServerDelay: Duration = .seconds(60),
    cost: @escaping @Sendable (RequestMessage, CallContext) -> Int = { _, _ in 1 }
  ) {
    self.limit = limit
    self.queueCapacity = max(0, queueCapacity)
    self.maximumServerDelay = max(.zero, maximumServerDelay)
    self.cost = cost
  }

  /// Waits for tokens and passes the request on.
  ///
  /// - Throws: ``TransportError`` with a ``RateLimitRefusal`` as its cause; its code is `refused`, and nothing is
  ///   sent. `CancellationError` when the task is cancelled while it waits.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described, let key = OriginKey(request.head) else {
      return try await next(request, context: context)
    }
    let cost = context.values[RateLimitCostKey.self] ?? self.cost(request, context)
    if cost > 0 { try await wait(for: cost, lane(of: key, isNeeded: limit != nil, context), context) }
    let response = try await next(request, context: context)
    if response.statusCode == 429 { pause(key, response, context) }
    return response
  }

  private func wait(for cost: Int, _ lane: RateLimitLane?, _ context: CallContext) async throws {
    guard let lane else { return }
    let begin = context.now
    guard !context.values[SharedWorkKey.self] else { return lane.force(cost, at: begin) }
    do {
      let hasWaited = try await lane.pass(cost: cost, deadline: context.nearestDeadline, clock: context.clock) {
        context.record(.queued(.rateLimit))
      }
      guard hasWaited else { return }
      context.record(.note("waited for the rate limit, ms", begin.duration(to: context.now).milliseconds))
    } catch let call as DelayedCall {
      context.record(.note("refused by the rate limit, tokens available in ms", call.delay.milliseconds))
      throw call.reason.error(retryAfter: call.delay)
    }
  }

  private func pause(_ key: OriginKey, _ response: ResponseMessage, _ context: CallContext) {
    guard let delay = response.retryAfter, delay > .zero else { return }
    let time = min(delay, maximumServerDelay)
    context.record(.note("the server asked for a pause, ms", time.milliseconds))
    lane(of: key, isNeeded: true, context)?.pause(for: time, at: context.now)
  }

  /// Returns the lane of an origin; `nil` if the lane does not exist and is not needed.
  private func lane(of key: OriginKey, isNeeded: Bool, _ context: CallContext) -> RateLimitLane? {
    lanes.withLock { lanes in
      if let lane = lanes.all[key] { return lane }
      guard isNeeded else { return nil }
      if lanes.all.count >= lanes.sweepCount {
        let now = context.now
        lanes.all = lanes.all.filter { !$0.value.isIdle(at: now) }
        lanes.sweepCount = max(Lanes.fewest, lanes.all.count * 2)
      }
      let lane = RateLimitLane(limit, capacity: queueCapacity)
      lanes.all[key] = lane
      return lane
    }
  }
}

extension RateLimiter: SelfDescribing {
  /// The limits for `describe()`.
  package var facts: [Fact] {
    let pace =
      limit.map { Fact.rate(interval: $0.interval, burst: $0.burst) } ?? .setting("limits that servers ask for", "")
    return [pace, .setting("queue", "\(queueCapacity)"), .time("Retry-After up to", maximumServerDelay)]
  }
}

enum RateLimitCostKey: ContextKey {
  /// `nil`: the limiter's cost function.
  static let defaultValue: Int? = nil
}

extension Endpoint {
  /// Sets the cost of calls of this endpoint in tokens of the ``RateLimiter``.
  ///
  /// - Parameter cost: the number of tokens; a call with 0 never waits. Default: the limiter's cost, usually 1.
  public func rateLimit(cost: Int) -> Request<Value> {
    setting(RateLimitCostKey.self, cost)
  }
}
