import ApusCore

/// The token bucket of one origin and the queue behind it. A pure state machine, driven by ``RateLimitLane``.
///
/// Calls are sent in order of arrival. The first call in the queue sleeps until its tokens are available; when it is
/// sent or leaves, the next call becomes first. A pause that the server requests delays all calls. A call that would
/// have to wait beyond its deadline is refused immediately, even if it is already queued.
struct RateLimiterState: Hashable {
  typealias Waiter = UInt64

  /// A call that requests tokens.
  struct Claim: Hashable {
    let waiter: Waiter
    var cost = 1
    var deadline: MonotonicInstant?
  }

  enum Decision: Hashable {
    case pass
    /// The call is first in the queue.
    case first
    /// The call is queued behind other calls.
    case queue
    /// The call could be sent at this instant, which is too late.
    case late(MonotonicInstant)
    /// The queue is full.
    case full(MonotonicInstant)
  }

  /// The next step of the first call in the queue.
  enum Turn: Hashable {
    case pass
    /// The call must poll again at this instant.
    case until(MonotonicInstant)
    /// The call was refused or has left.
    case gone
  }

  /// The result of polling: the next step of the first call, and the new first call, if it changed.
  struct Poll: Hashable {
    let turn: Turn
    var next: Waiter?
  }

  /// The result of delaying the queue.
  struct Delay: Hashable {
    /// The calls that are too late now, with the instants at which they could have been sent.
    var late: [Waiter: MonotonicInstant] = [:]
    /// The first call in the queue, if it changed.
    var next: Waiter?
  }

  private let capacity: Int
  private var bucket: TokenBucket?
  /// The end of the pause that the server requested.
  private var pausedUntil = MonotonicInstant(sinceStart: .zero)
  private var claims: [Waiter: Claim] = [:]
  /// The queued calls in order, from `start` on. It may still contain removed calls.
  private var line: [Waiter] = []
  private var start = 0
  /// The forecast after the last call in the queue; `nil`: not computed yet.
  private var outlook: Outlook?

  /// The bucket after a number of calls, and the instant at which the last of these calls is sent.
  private struct Outlook: Hashable {
    var bucket: TokenBucket?
    var last: MonotonicInstant

    /// Adds a call at the end. Returns the instant at which it is sent.
    mutating func add(_ claim: Claim, at now: MonotonicInstant) -> MonotonicInstant {
      let turn = max(last, bucket?.availability(of: claim.cost, at: now) ?? now)
      bucket?.take(claim.cost, at: turn)
      last = turn
      return turn
    }
  }

  /// Creates a state with a full bucket and an empty queue.
  ///
  /// - Parameters:
  ///   - limit: `nil`: only the pauses that the server requests.
  ///   - capacity: the maximum number of queued calls.
  init(_ limit: RateLimit?, capacity: Int) {
    bucket = limit.map(TokenBucket.init)
    self.capacity = capacity
  }

  /// The number of queued calls.
  var count: Int { claims.count }
  /// The length of the queue's storage, for tests.
  var storageCount: Int { line.count }

  /// Whether the state equals a new state.
  func isIdle(at now: MonotonicInstant) -> Bool {
    claims.isEmpty && pausedUntil <= now && bucket?.isFull(at: now) ?? true
  }

  /// Admits, queues or refuses a call.
  mutating func arrive(_ claim: Claim, at now: MonotonicInstant) -> Decision {
    let ahead = forecast(at: now)
    var next = ahead
    let turn = next.add(claim, at: now)
    if claims.isEmpty, turn <= now {
      bucket?.take(claim.cost, at: now)
      outlook = nil
      return .pass
    }
    // A refused call does not change the forecast for the next call.
    if !claims.isEmpty { outlook = ahead }
    if let deadline = claim.deadline, deadline <= turn { return .late(turn) }
    guard claims.count < capacity else { return .full(turn) }
    let isFirst = claims.isEmpty
    claims[claim.waiter] = claim
    line.append(claim.waiter)
    outlook = next
    return isFirst ? .first : .queue
  }

  /// Consumes tokens for a call that does not wait.
  @discardableResult
  mutating func force(_ cost: Int, at now: MonotonicInstant) -> Delay {
    bucket?.take(cost, at: now)
    outlook = nil
    return claims.isEmpty ? Delay() : delayed(until: pausedUntil, at: now)
  }

  /// Returns whether the first call in the queue may be sent now.
  mutating func poll(_ waiter: Waiter, at now: MonotonicInstant) -> Poll {
    guard let claim = claims[waiter], first == waiter else { return Poll(turn: .gone) }
    let turn = earliest(claim, at: now)
    guard turn <= now else { return Poll(turn: .until(turn)) }
    // The forecast for the other calls stays valid unless this call is late.
    if claims.count == 1 || bucket.map({ $0.fullAt < now }) ?? false { outlook = nil }
    bucket?.take(claim.cost, at: now)
    return Poll(turn: .pass, next: remove(waiter))
  }

  /// Removes a call. Returns the first call in the queue, if it changed.
  mutating func leave(_ waiter: Waiter) -> Waiter? {
    guard claims[waiter] != nil else { return nil }
    outlook = nil
    return remove(waiter)
  }

  /// Pauses all calls because the server requested a delay.
  mutating func pause(until instant: MonotonicInstant, at now: MonotonicInstant) -> Delay {
    guard instant > pausedUntil else { return Delay() }
    pausedUntil = instant
    return delayed(until: instant, at: now)
  }

  /// Delays all calls, and removes the calls that become too late.
  private mutating func delayed(until instant: MonotonicInstant, at now: MonotonicInstant) -> Delay {
    let before = first
    var late: [Waiter: MonotonicInstant] = [:]
    var ahead = Outlook(bucket: bucket, last: max(now, instant))
    for waiter in line[start...] {
      guard let claim = claims[waiter] else { continue }
      var next = ahead
      let turn = next.add(claim, at: now)
      if let deadline = claim.deadline, deadline <= turn { late[waiter] = turn } else { ahead = next }
    }
    for waiter in late.keys { claims[waiter] = nil }
    skipGone()
    outlook = ahead
    return Delay(late: late, next: first == before ? nil : first)
  }

  // MARK: Queue

  private var first: Waiter? { start < line.count ? line[start] : nil }

  private mutating func remove(_ waiter: Waiter) -> Waiter? {
    let before = first
    claims[waiter] = nil
    skipGone()
    return first == before ? nil : first
  }

  private mutating func skipGone() {
    while start < line.count, claims[line[start]] == nil { start += 1 }
    // Any number of calls may leave the middle of the queue while the first call waits. Compacting takes amortized
    // constant time per call.
    guard start == line.count || line.count > 2 * claims.count + 64 else { return }
    let present = claims
    line.removeAll { present[$0] == nil }
    start = 0
  }

  private func earliest(_ claim: Claim, at now: MonotonicInstant) -> MonotonicInstant {
    max(pausedUntil, bucket?.availability(of: claim.cost, at: now) ?? now)
  }

  private func forecast(at now: MonotonicInstant) -> Outlook {
    if let outlook { return outlook }
    var ahead = Outlook(bucket: bucket, last: max(now, pausedUntil))
    for waiter in line[start...] {
      if let claim = claims[waiter] { _ = ahead.add(claim, at: now) }
    }
    return ahead
  }
}

/// A token bucket without rounding. A pure value.
///
/// The bucket stores the instant at which it is full again, not a count of tokens, so no refill is needed as time
/// passes. A cost above the burst needs a full bucket, and leaves the bucket in debt.
struct TokenBucket: Hashable {
  let limit: RateLimit
  /// The instant at which the bucket becomes full, or became full.
  private(set) var fullAt = MonotonicInstant(sinceStart: .zero)

  /// Creates a full bucket.
  init(_ limit: RateLimit) {
    self.limit = limit
  }

  /// Returns the earliest instant, not before `now`, at which there are enough tokens for a cost.
  func availability(of cost: Int, at now: MonotonicInstant) -> MonotonicInstant {
    let needed = limit.interval * (min(max(cost, 0), limit.burst) - limit.burst)
    return max(now, fullAt.advanced(by: needed))
  }

  /// Consumes tokens, even if there are not enough.
  mutating func take(_ cost: Int, at now: MonotonicInstant) {
    fullAt = max(now, fullAt).advanced(by: limit.interval * min(max(cost, 0), RateLimit.maximum))
  }

  /// Whether the bucket is full.
  func isFull(at now: MonotonicInstant) -> Bool { fullAt <= now }
}
