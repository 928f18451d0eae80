public import ApusCore
import HTTPTypes
import Synchronization

/// Keeps the pace that servers ask for: calls wait for their turn, in the order in which they came.
///
/// It stands inside retry, so that every attempt takes its part, and of each origin it keeps count apart. A server that
/// answers 429 with `Retry-After` (RFC 6585 §4, RFC 9110 §10.2.3) is left alone for that long, also where there is no
/// limit of one's own; calls then wait as for any other turn.
///
/// - A call whose turn would come after its deadline, or after that of its attempt (10 seconds by default), is refused
///   at once; one that waits already, when something holds up the line so that it would be late. What may wait for
///   longer says so with `attemptTimeout(_:)`, or has a client with another ``AttemptDeadline``.
/// - Calls that do work for many others, such as fetching a token (``SharedWorkKey``), take their part and never wait.
/// - It starts no tasks: the first in line watches the clock, and the others wait for it.
///
/// Use one for several clients to have them share a limit.
public final class RateLimiter: Middleware {
  /// Says how many requests' worth a request takes.
  public typealias Cost = @Sendable (RequestMessage, CallContext) -> Int

  private struct Lanes {
    /// So many are always kept, more only while there is something to remember.
    static let fewest = 256

    var all: [OriginKey: RateLimitLane] = [:]
    /// Above this many they are looked through, which is seldom enough to cost little for each that is added.
    var sweepCount = fewest
  }

  let limit: RateLimit?
  let capacity: Int
  let longestPause: Duration
  private let cost: Cost
  private let lanes = Mutex(Lanes())

  /// Makes a limiter.
  ///
  /// - Parameters:
  ///   - limit: of each origin. Default: `nil`, none but what servers ask for.
  ///   - capacity: how many calls may wait for one origin; more are refused. Default: 1,000.
  ///   - longestPause: the longest that a server's `Retry-After` holds calls up. Default: 60 seconds.
  ///   - cost: how many requests' worth a request takes, where its endpoint does not say so itself; 0 and less: it
  ///     never waits. Default: 1.
  public init(
    _ limit: RateLimit? = nil, capacity: Int = 1000, longestPause: Duration = .seconds(60),
    cost: @escaping Cost = { _, _ in 1 }
  ) {
    self.limit = limit
    self.capacity = max(0, capacity)
    self.longestPause = max(.zero, longestPause)
    self.cost = cost
  }

  /// Waits for the call's turn, and passes the message on.
  ///
  /// - Throws: ``TransportError`` with a ``RateLimitRejection`` as its cause, which becomes `declined`; nothing is sent
  ///   then. `CancellationError` when the task is cancelled while it waits.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described, let key = OriginKey(request.head) else {
      return try await next(request, context: context)
    }
    let cost = context.values[RateLimitCostKey.self] ?? self.cost(request, context)
    if cost > 0 { try await wait(for: cost, lane(of: key, isNeeded: limit != nil, context), context) }
    let response = try await next(request, context: context)
    if response.head.status.code == 429 { pause(key, response, context) }
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
    } catch let rejection as RateLimitRejection {
      context.record(.note("refused by the rate limit, its turn comes in ms", rejection.retryAfter.milliseconds))
      throw rejection.error
    }
  }

  @inline(never)  // Hardly any answer is one of these.
  private func pause(_ key: OriginKey, _ response: ResponseMessage, _ context: CallContext) {
    guard let asked = response.retryAfter, asked > .zero else { return }
    let time = min(asked, longestPause)
    context.record(.note("the server asked for a pause, ms", time.milliseconds))
    lane(of: key, isNeeded: true, context)?.pause(for: time, at: context.now)
  }

  /// The line of an origin; `nil` where there is none and none is needed.
  private func lane(of key: OriginKey, isNeeded: Bool, _ context: CallContext) -> RateLimitLane? {
    lanes.withLock { lanes in
      if let lane = lanes.all[key] { return lane }
      guard isNeeded else { return nil }
      if lanes.all.count >= lanes.sweepCount {
        let now = context.now
        lanes.all = lanes.all.filter { !$0.value.isIdle(at: now) }
        lanes.sweepCount = max(Lanes.fewest, lanes.all.count * 2)
      }
      let lane = RateLimitLane(limit, capacity: capacity)
      lanes.all[key] = lane
      return lane
    }
  }
}
