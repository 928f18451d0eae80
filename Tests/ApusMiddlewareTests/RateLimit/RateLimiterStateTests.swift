import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Rate limiter: its state")
struct RateLimiterStateTests {
  typealias State = RateLimiterState

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  /// Returns a state with a refill of one token per second and a burst of three.
  private func state(capacity: Int = 100) -> State {
    State(RateLimit(3, per: .seconds(3), burst: 3), capacity: capacity)
  }

  @Test("After an idle time a burst passes immediately, then one call for each refilled token")
  func bucket() {
    var bucket = TokenBucket(RateLimit(3, per: .seconds(3), burst: 3))
    for _ in 0..<3 {
      #expect(bucket.availability(of: 1, at: at(10)) == at(10))
      bucket.take(1, at: at(10))
    }
    #expect(bucket.availability(of: 1, at: at(10)) == at(11))
    #expect(bucket.availability(of: 3, at: at(10)) == at(13))
    // A cost above the burst waits for a full bucket and leaves the bucket in debt.
    #expect(bucket.availability(of: 5, at: at(10)) == at(13))
    bucket.take(5, at: at(13))
    #expect(bucket.availability(of: 1, at: at(13)) == at(16))
    #expect(!bucket.isFull(at: at(17)) && bucket.isFull(at: at(18)))
    // The bucket never contains more tokens than its burst.
    #expect(bucket.availability(of: 3, at: at(1000)) == at(1000))
    bucket.take(3, at: at(1000))
    #expect(bucket.availability(of: 1, at: at(1000)) == at(1001))
  }

  /// Returns the largest number of calls within any period if calls always wait, also after idle times.
  private func most(_ limit: RateLimit, within period: Duration) -> Int {
    var bucket = TokenBucket(limit)
    var (now, sent) = (MonotonicInstant(sinceStart: .zero), [MonotonicInstant]())
    for call in 0..<400 {
      // After an idle time the bucket is full again.
      if call.isMultiple(of: 200) { now = now.advanced(by: period * 3) }
      now = bucket.availability(of: 1, at: now)
      bucket.take(1, at: now)
      sent.append(now)
    }
    return sent.map { start in sent.count { $0 >= start && start.duration(to: $0) < period } }.max() ?? 0
  }

  @Test(
    "By default no period exceeds the rate by more than a tenth, wherever it begins",
    arguments: [(100, 109), (99, 108), (20, 21), (10, 10), (5, 5), (1, 1)])
  func defaultBurst(rate: Int, most: Int) {
    #expect(self.most(.perSecond(rate), within: .seconds(1)) == most)
    #expect(self.most(.perMinute(rate), within: .seconds(60)) == most)
    #expect(Double(most) <= Double(rate) * 1.1)
  }

  @Test("A rate limit can have a larger burst")
  func ownBurst() {
    #expect(most(.perSecond(100, burst: 100), within: .seconds(1)) == 199)
    #expect(most(.perMinute(60, burst: 1), within: .seconds(60)) == 60)
  }

  @Test("Extreme rate limits and costs do not trap")
  func absurd() {
    var bucket = TokenBucket(RateLimit(.max, per: .zero, burst: .max))
    bucket.take(.max, at: at(0))
    #expect(bucket.availability(of: .min, at: at(1)) == at(1))
    bucket = TokenBucket(RateLimit(0, per: .seconds(Int64.max), burst: -1))
    bucket.take(.max, at: at(0))
    #expect(bucket.availability(of: 1, at: at(0)) > at(1_000_000))
  }

  @Test("Rate-limited calls are queued in order of arrival, and pass when their tokens are refilled")
  func order() {
    var state = state()
    for waiter in 0..<3 as Range<UInt64> { #expect(state.arrive(.init(waiter: waiter), at: at(0)) == .pass) }
    #expect(state.arrive(.init(waiter: 3, cost: 2), at: at(0)) == .first)
    #expect(state.arrive(.init(waiter: 4), at: at(0)) == .queue)
    #expect(state.poll(3, at: at(0)).turn == .until(at(2)))
    // A token is available, but the call is not first.
    #expect(state.poll(4, at: at(1)).turn == .gone)
    #expect(state.poll(3, at: at(2)) == .init(turn: .pass, next: 4))
    #expect(state.poll(4, at: at(2)).turn == .until(at(3)))
    #expect(state.poll(4, at: at(3)) == .init(turn: .pass, next: nil))
    #expect(state.count == 0)
  }

  @Test("When a call leaves the rate limiter's queue, later calls move ahead")
  func leaving() {
    var state = state()
    state.force(3, at: at(0))
    for waiter in 0..<3 as Range<UInt64> { _ = state.arrive(.init(waiter: waiter, cost: 3), at: at(0)) }
    #expect(state.leave(1) == nil)
    #expect(state.leave(0) == 2)
    #expect(state.leave(0) == nil)
    #expect(state.poll(2, at: at(0)).turn == .until(at(3)))
    #expect(state.count == 1)
  }

  @Test("Any number of calls may arrive and leave behind a waiting call, without a change of order or a leak")
  func comingAndLeaving() {
    var state = state()
    state.force(3, at: at(0))
    for waiter in [0, 1] as [UInt64] { _ = state.arrive(.init(waiter: waiter), at: at(0)) }
    for waiter in 2..<1000 as Range<UInt64> {
      let decision = state.arrive(.init(waiter: waiter), at: at(0))
      #expect(decision == .queue)
      let next = state.leave(waiter)
      #expect(next == nil)
      #expect(state.storageCount < 100)
    }
    #expect(state.poll(0, at: at(1)) == .init(turn: .pass, next: 1))
    #expect(state.poll(1, at: at(2)) == .init(turn: .pass, next: nil))
    #expect(state.count == 0 && state.storageCount == 0)
  }

  @Test("A call that would be too late, or beyond the queue's limit, is refused immediately")
  func refused() {
    var state = state(capacity: 1)
    state.force(3, at: at(0))
    #expect(state.arrive(.init(waiter: 0, deadline: at(1)), at: at(0)) == .late(at(1)))
    #expect(state.arrive(.init(waiter: 1, deadline: at(2)), at: at(0)) == .first)
    #expect(state.arrive(.init(waiter: 2, deadline: at(2)), at: at(0)) == .late(at(2)))
    #expect(state.arrive(.init(waiter: 3, deadline: at(3)), at: at(0)) == .full(at(2)))
  }

  @Test("A call that consumes tokens without waiting delays queued calls; calls that become too late are refused")
  func forced() {
    var state = state()
    state.force(3, at: at(0))
    for waiter in 0..<3 as Range<UInt64> {
      _ = state.arrive(.init(waiter: waiter, deadline: at(3 + Int(waiter))), at: at(0))
    }
    // The calls are sent at seconds 1, 2 and 3.
    #expect(state.force(1, at: at(0)) == .init())
    #expect(state.force(1, at: at(0)) == .init(late: [0: at(3)], next: 1))
    #expect(state.poll(0, at: at(0)).turn == .gone)
    #expect(state.poll(1, at: at(0)).turn == .until(at(3)))
    #expect(state.count == 2)
  }

  @Test("A pause that the server requests delays all calls; calls that become too late are refused")
  func pausing() {
    var state = state()
    state.force(3, at: at(0))
    _ = state.arrive(.init(waiter: 0, deadline: at(5)), at: at(0))
    _ = state.arrive(.init(waiter: 1, deadline: at(20)), at: at(0))
    _ = state.arrive(.init(waiter: 2), at: at(0))
    #expect(state.pause(until: at(10), at: at(0)) == .init(late: [0: at(10)], next: 1))
    #expect(state.pause(until: at(7), at: at(0)) == .init())
    #expect(state.poll(0, at: at(1)).turn == .gone)
    #expect(state.poll(1, at: at(1)).turn == .until(at(10)))
    #expect(!state.isIdle(at: at(9)))
    #expect(state.poll(1, at: at(10)) == .init(turn: .pass, next: 2))
    #expect(state.poll(2, at: at(10)) == .init(turn: .pass, next: nil))
    // Without a rate limit only the server's pause applies.
    var free = State(nil, capacity: 10)
    #expect(free.pause(until: at(5), at: at(0)) == .init())
    #expect(free.arrive(.init(waiter: 0), at: at(1)) == .first)
    #expect(free.poll(0, at: at(5)) == .init(turn: .pass, next: nil))
    #expect(free.isIdle(at: at(5)))
  }
}
