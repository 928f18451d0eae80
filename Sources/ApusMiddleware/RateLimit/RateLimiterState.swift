import ApusCore

/// Who may send when to one server: pure; ``RateLimiter`` does what it answers.
///
/// Calls go in the order in which they came. The first in line watches the clock; when it goes or leaves, the next one
/// is told that it is first. A server that asks for a pause holds up everybody. Whoever would have to wait beyond its
/// deadline is told at once: then it has not waited for nothing.
struct RateLimiterState: Hashable {
  typealias Waiter = UInt64

  /// One that wants to send.
  struct Claim: Hashable {
    let waiter: Waiter
    var cost = 1
    var deadline: MonotonicInstant?
  }

  enum Decision: Hashable {
    case pass
    /// Is the first in line.
    case first
    /// Others are before it.
    case queue
    /// Its turn would come at this instant, which is too late.
    case late(MonotonicInstant)
    /// Too many wait.
    case full(MonotonicInstant)
  }

  /// What the first in line does.
  enum Turn: Hashable {
    case pass
    /// Looks again at this instant.
    case until(MonotonicInstant)
    /// Is not in the line any more: somebody has told it why.
    case gone
  }

  /// What the first in line does, and who is first then if that is somebody else.
  struct Look: Hashable {
    let turn: Turn
    var next: Waiter?
  }

  /// What follows when everybody goes later than before.
  struct Delay: Hashable {
    /// Those whose turn comes too late now, with when it would have come.
    var late: [Waiter: MonotonicInstant] = [:]
    /// Who is first in line, if that is somebody else than before.
    var next: Waiter?
  }

  private let capacity: Int
  private var bucket: TokenBucket?
  /// Until when the server asked for a pause.
  private var pausedUntil = MonotonicInstant(sinceStart: .zero)
  private var claims: [Waiter: Claim] = [:]
  /// In order; some have left.
  private var line: [Waiter] = []
  private var start = 0
  /// What the bucket will be after everybody in the line, and when the last of them goes; `nil`: to be worked out anew.
  private var outlook: Outlook?

  private struct Outlook: Hashable {
    var bucket: TokenBucket?
    var last: MonotonicInstant

    /// One more at the end of the line: when it goes.
    mutating func add(_ claim: Claim, at now: MonotonicInstant) -> MonotonicInstant {
      let turn = max(last, bucket?.availability(of: claim.cost, at: now) ?? now)
      bucket?.take(claim.cost, at: turn)
      last = turn
      return turn
    }
  }

  /// Makes a state in which nobody waits.
  ///
  /// - Parameters:
  ///   - limit: `nil`: no limit but what the server asks for.
  ///   - capacity: how many may wait.
  init(_ limit: RateLimit?, capacity: Int) {
    bucket = limit.map(TokenBucket.init)
    self.capacity = capacity
  }

  /// How many wait.
  var count: Int { claims.count }
  /// How many places the line has, those included of some who have gone.
  var lineLength: Int { line.count }

  /// Whether nothing would be lost if it began anew.
  func isIdle(at now: MonotonicInstant) -> Bool {
    claims.isEmpty && pausedUntil <= now && bucket?.isFull(at: now) ?? true
  }

  /// Somebody wants to send.
  mutating func arrive(_ claim: Claim, at now: MonotonicInstant) -> Decision {
    let ahead = forecast(at: now)
    var next = ahead
    let turn = next.add(claim, at: now)
    if claims.isEmpty, turn <= now {
      bucket?.take(claim.cost, at: now)
      outlook = nil
      return .pass
    }
    // Whoever is refused changes nothing for the next, who need not work it out again.
    if !claims.isEmpty { outlook = ahead }
    if let deadline = claim.deadline, deadline <= turn { return .late(turn) }
    guard claims.count < capacity else { return .full(turn) }
    let isFirst = claims.isEmpty
    claims[claim.waiter] = claim
    line.append(claim.waiter)
    outlook = next
    return isFirst ? .first : .queue
  }

  /// Somebody sends without waiting: what it takes is missing to the others.
  @discardableResult
  mutating func force(_ cost: Int, at now: MonotonicInstant) -> Delay {
    bucket?.take(cost, at: now)
    outlook = nil
    return claims.isEmpty ? Delay() : delayed(until: pausedUntil, at: now)
  }

  /// The first in line looks whether it may go.
  mutating func look(_ waiter: Waiter, at now: MonotonicInstant) -> Look {
    guard let claim = claims[waiter], first == waiter else { return Look(turn: .gone) }
    let turn = earliest(claim, at: now)
    guard turn <= now else { return Look(turn: .until(turn)) }
    // The others go when they were to go before, unless this one is late.
    if claims.count == 1 || bucket.map({ $0.fullAt < now }) ?? false { outlook = nil }
    bucket?.take(claim.cost, at: now)
    return Look(turn: .pass, next: remove(waiter))
  }

  /// Somebody waits no longer. With who is first in line then, if that is somebody else than before.
  mutating func leave(_ waiter: Waiter) -> Waiter? {
    guard claims[waiter] != nil else { return nil }
    outlook = nil
    return remove(waiter)
  }

  /// The server asks for a pause.
  mutating func pause(until instant: MonotonicInstant, at now: MonotonicInstant) -> Delay {
    guard instant > pausedUntil else { return Delay() }
    pausedUntil = instant
    return delayed(until: instant, at: now)
  }

  /// Everybody goes later than before: those leave the line who would go too late now.
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

  // MARK: The line

  private var first: Waiter? { start < line.count ? line[start] : nil }

  private mutating func remove(_ waiter: Waiter) -> Waiter? {
    let before = first
    claims[waiter] = nil
    skipGone()
    return first == before ? nil : first
  }

  private mutating func skipGone() {
    while start < line.count, claims[line[start]] == nil { start += 1 }
    // Those who left from the middle, too: while the first one waits for long, any number may come and go. So seldom
    // that it costs little for each.
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
