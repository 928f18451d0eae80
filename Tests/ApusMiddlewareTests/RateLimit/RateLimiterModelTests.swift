import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

/// A second, simple implementation of the rules, for a bucket of three tokens with a refill of one per second.
private struct Oracle {
  struct Claim {
    let waiter: UInt64
    let cost: Int
    let deadline: Int?
  }

  /// A bucket that counts tokens second by second.
  struct Bucket {
    var second = 0
    /// The number of tokens; negative if a call consumed missing tokens.
    var tokens = 3

    mutating func wait(until later: Int) {
      guard later > second else { return }
      tokens = min(3, tokens + later - second)
      second = later
    }

    /// Consumes tokens as soon as they are available; a cost above the burst needs a full bucket. Returns the second.
    mutating func take(_ cost: Int) -> Int {
      while tokens < min(cost, 3) { wait(until: second + 1) }
      tokens -= cost
      return second
    }
  }

  let capacity: Int
  var second = 0
  var pausedUntil = 0
  /// The bucket after the calls that were sent.
  var bucket = Bucket()
  /// The queued calls, in order.
  var line: [Claim] = []

  /// The bucket for the first call in the queue, or for a new call without a queue.
  private var ahead: Bucket {
    var ahead = bucket
    ahead.wait(until: max(second, pausedUntil))
    return ahead
  }

  /// Returns the second at which the first call is sent.
  func turn(of claim: Claim) -> Int {
    var ahead = ahead
    return ahead.take(claim.cost)
  }

  /// Adds a call behind all others.
  mutating func arrive(_ claim: Claim) -> RateLimiterState.Decision {
    var ahead = ahead
    for other in line { _ = ahead.take(other.cost) }
    let turn = ahead.take(claim.cost)
    if line.isEmpty, turn <= second {
      bucket = ahead
      return .pass
    }
    if let deadline = claim.deadline, deadline <= turn { return .late(Self.at(turn)) }
    guard line.count < capacity else { return .full(Self.at(turn)) }
    line.append(claim)
    return line.count == 1 ? .first : .queue
  }

  /// Sends the first call in the queue.
  mutating func go() {
    let claim = line.removeFirst()
    bucket = ahead
    _ = bucket.take(claim.cost)
  }

  /// Consumes tokens without waiting.
  mutating func force(_ cost: Int) -> RateLimiterState.Delay {
    bucket.wait(until: second)
    bucket.tokens -= cost
    return delayed()
  }

  /// Pauses all calls because the server requested a delay.
  mutating func pause(until later: Int) -> RateLimiterState.Delay {
    pausedUntil = max(pausedUntil, later)
    return delayed()
  }

  /// Removes calls that are too late; the calls behind them move ahead.
  private mutating func delayed() -> RateLimiterState.Delay {
    var delay = RateLimiterState.Delay()
    var ahead = ahead
    var staying: [Claim] = []
    for claim in line {
      let before = ahead
      let turn = ahead.take(claim.cost)
      if let deadline = claim.deadline, deadline <= turn {
        ahead = before
        delay.late[claim.waiter] = Self.at(turn)
      } else {
        staying.append(claim)
      }
    }
    if staying.first?.waiter != line.first?.waiter { delay.next = staying.first?.waiter }
    line = staying
    return delay
  }

  static func at(_ second: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(second)) }
}

@Suite("Rate limiter: comparison with a model")
struct RateLimiterModelTests {
  /// The numbers of rare events.
  private struct Rare: Equatable {
    var late = 0
    var full = 0
    var forcedOut = 0
    var pausedOut = 0
  }

  @Test(
    "In any order of events RateLimiterState agrees with a simple model",
    arguments: 0..<40 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    _ = run(seed)
  }

  @Test("Random rate limiter runs refuse calls because of a full queue or their deadline, on arrival and while queued")
  func variety() {
    var rare = Rare()
    for seed in 0..<40 as Range<UInt64> {
      let some = run(seed)
      rare.late += some.late
      rare.full += some.full
      rare.forcedOut += some.forcedOut
      rare.pausedOut += some.pausedOut
    }
    #expect(min(rare.late, rare.full, rare.forcedOut, rare.pausedOut) > 0, "\(rare)")
  }

  private func run(_ seed: UInt64) -> Rare {
    var random = SeededGenerator(seed: seed)
    // In every second run the queue is very small.
    let capacity = seed % 2 == 0 ? 1000 : 3
    var state = RateLimiterState(RateLimit(3, per: .seconds(3), burst: 3), capacity: capacity)
    var oracle = Oracle(capacity: capacity)
    var rare = Rare()
    for waiter in 0..<300 as Range<UInt64> {
      let now = Oracle.at(oracle.second)
      let place: Comment = "seed \(seed), waiter \(waiter)"
      switch random.next() % 10 {
      case 0..<4:
        let decision = arrive(waiter, &state, &oracle, &random)
        #expect(decision.0 == decision.1, place)
        if case .late = decision.0 { rare.late += 1 }
        if case .full = decision.0 { rare.full += 1 }
      case 4 where !oracle.line.isEmpty:
        let index = Int(random.next() % UInt64(oracle.line.count))
        let next = state.leave(oracle.line.remove(at: index).waiter)
        #expect(next == (index == 0 ? oracle.line.first?.waiter : nil), place)
      case 5 where random.next() % 4 == 0:
        let until = oracle.second + Int(random.next() % 8)
        let delay = state.pause(until: Oracle.at(until), at: now)
        #expect(delay == oracle.pause(until: until), place)
        rare.pausedOut += delay.late.count
      case 6 where random.next() % 4 == 0:
        let cost = 1 + Int(random.next() % 5)
        let delay = state.force(cost, at: now)
        #expect(delay == oracle.force(cost), place)
        rare.forcedOut += delay.late.count
      default: oracle.second += 1
      }
      sendDueCalls(&state, &oracle, place)
    }
    return rare
  }

  /// Adds a call with a random cost, which sometimes exceeds the burst. Returns the decision and the expected decision.
  private func arrive(
    _ waiter: UInt64, _ state: inout RateLimiterState, _ oracle: inout Oracle, _ random: inout SeededGenerator
  ) -> (RateLimiterState.Decision, RateLimiterState.Decision) {
    let deadline = random.next() % 3 == 0 ? oracle.second + Int(random.next() % 12) : nil
    let cost = random.next() % 3 == 0 ? 1 + Int(random.next() % 5) : 1
    let claim = RateLimiterState.Claim(waiter: waiter, cost: cost, deadline: deadline.map(Oracle.at))
    return (
      state.arrive(claim, at: Oracle.at(oracle.second)),
      oracle.arrive(.init(waiter: waiter, cost: cost, deadline: deadline))
    )
  }

  /// Sends all calls that are due.
  private func sendDueCalls(_ state: inout RateLimiterState, _ oracle: inout Oracle, _ place: Comment) {
    while let first = oracle.line.first {
      let turn = oracle.turn(of: first)
      let poll = state.poll(first.waiter, at: Oracle.at(oracle.second))
      #expect(poll.turn == (turn <= oracle.second ? .pass : .until(Oracle.at(turn))), place)
      guard poll.turn == .pass else { break }
      oracle.go()
      #expect(poll.next == oracle.line.first?.waiter, place)
    }
    #expect(state.count == oracle.line.count, place)
  }
}
