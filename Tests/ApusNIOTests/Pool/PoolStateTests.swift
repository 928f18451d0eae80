import ApusCore
import Testing

@testable import ApusNIO

@Suite("Pool state")
struct PoolStateTests {
  typealias Pool = PoolState<String, Int, String>

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  private func pool(_ change: (inout PoolLimits) -> Void = { _ in }) -> Pool {
    var limits = PoolLimits()
    limits.connectionsPerOrigin = 2
    limits.connections = 3
    limits.idleTimeout = .seconds(60)
    change(&limits)
    return Pool(limits: limits)
  }

  @Test("The first call has a connection made and uses it")
  func first() {
    var pool = pool()
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.dial("a")])
    #expect(pool.dialed(1, for: "a", now: at(1)) == [.use(1, "w")])
  }

  @Test("An idle connection is reused, the most recently used first")
  func reuse() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      #expect(pool.acquire(waiter, for: "a", now: at(0)) == [.dial("a")])
      #expect(pool.dialed(connection, for: "a", now: at(0)) == [.use(connection, waiter)])
    }
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.wake(at(61))])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [])
    #expect(pool.acquire("x", for: "a", now: at(3)) == [.use(1, "x")])
    #expect(pool.acquire("y", for: "a", now: at(3)) == [.use(2, "y")])
  }

  @Test("A call that wants a new connection leaves idle ones alone, or replaces the oldest")
  func wantsNew() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    _ = pool.released(1, canReuse: true, now: at(1))
    #expect(pool.acquireNew("w", for: "a") == [.dial("a")])
    #expect(pool.dialed(2, for: "a", now: at(2)) == [.use(2, "w")])
    _ = pool.released(2, canReuse: true, now: at(3))
    #expect(pool.counts.idle == 2)
    // Both connections that the origin may have are idle.
    #expect(pool.acquireNew("x", for: "a") == [.close(1), .dial("a")])
    #expect(pool.acquire("y", for: "a", now: at(4)) == [.use(2, "y")])
    #expect(pool.dialed(3, for: "a", now: at(4)) == [.use(3, "x")])
  }

  @Test("A call beyond its origin's limit waits and gets the first free connection")
  func limitPerOrigin() {
    var pool = pool()
    for waiter in ["u", "v"] { #expect(pool.acquire(waiter, for: "a", now: at(0)) == [.dial("a")]) }
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.dialed(1, for: "a", now: at(0)) == [.use(1, "u")])
    #expect(pool.released(1, canReuse: true, now: at(0)) == [.use(1, "v")])
    // The second connection was made for v, who has one by now: the next waiter gets it.
    #expect(pool.dialed(2, for: "a", now: at(0)) == [.use(2, "w")])
  }

  @Test("A streaming connection counts toward the total limit, but not toward its origin's")
  func streams() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.dialed(connection, for: "a", now: at(0))
    }
    #expect(pool.acquire("x", for: "a", now: at(0)) == [])
    #expect(!pool.isDialing(forLastOf: "a"))
    // Its stream makes room for one more, once.
    #expect(pool.streamingStarted(on: 1) == [.dial("a")])
    #expect(pool.isDialing(forLastOf: "a"))
    #expect(pool.streamingStarted(on: 1) == [])
    #expect(pool.dialed(3, for: "a", now: at(0)) == [.use(3, "x")])
    // Three is the total, streams included.
    #expect(pool.streamingStarted(on: 2) == [])
    #expect(pool.acquire("y", for: "a", now: at(0)) == [])
    #expect(!pool.isDialing(forLastOf: "a"))
    #expect(pool.closed(1, now: at(1)) == [.dial("a")])
  }

  @Test("When a stream ends, its connection is closed if others were made in its place")
  func endedStream() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    #expect(pool.streamingStarted(on: 1) == [])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.dial("a")])
    #expect(pool.dialed(2, for: "a", now: at(0)) == [.use(2, "w")])
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1)])
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.wake(at(61))])
    // A stream for which no other connection was made leaves a connection like any other.
    #expect(pool.acquire("x", for: "a", now: at(2)) == [.use(2, "x")])
    #expect(pool.streamingStarted(on: 2) == [])
    #expect(pool.released(2, canReuse: true, now: at(3)) == [])
    #expect(pool.acquire("y", for: "a", now: at(3)) == [.use(2, "y")])
  }

  @Test("A dial that was given up fails no caller that came later")
  func givenUp() {
    var pool = pool()
    _ = pool.acquire("w", for: "a", now: at(0))
    #expect(!pool.hasUnwantedDials(to: "a"))
    _ = pool.cancelled("w")
    #expect(pool.hasUnwantedDials(to: "a"))
    // It waits for the dial under way.
    #expect(pool.acquire("x", for: "a", now: at(0)) == [])
    #expect(pool.dialGivenUp(for: "a") == [.dial("a")])
    _ = pool.cancelled("x")
    #expect(pool.dialGivenUp(for: "a") == [])
    #expect(pool.isEmpty)
  }

  @Test("A connection that nobody needs any more is kept for the next call")
  func surplus() {
    var pool = pool()
    _ = pool.acquire("w", for: "a", now: at(0))
    #expect(pool.cancelled("w") == [])
    #expect(pool.dialed(1, for: "a", now: at(0)) == [.wake(at(60))])
    #expect(pool.acquire("x", for: "a", now: at(1)) == [.use(1, "x")])
  }

  @Test("A waiter that left gets nothing, and leaving twice has no effect")
  func cancelled() {
    var pool = pool()
    for waiter in ["u", "v", "w", "x"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.dialed(1, for: "a", now: at(0))
    #expect(pool.cancelled("v") == [])
    #expect(pool.cancelled("v") == [])
    #expect(pool.released(1, canReuse: true, now: at(0)) == [.use(1, "w")])
  }

  @Test("A connection that cannot be reused is closed, and replaced for its waiters")
  func notReusable() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.released(1, canReuse: false, now: at(0)) == [.close(1), .dial("a")])
    #expect(pool.closed(1, now: at(0)) == [])
    #expect(pool.dialed(2, for: "a", now: at(0)) == [.use(2, "w")])
  }

  @Test("A connection that the server closes while idle is not used")
  func closedWhileIdle() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    _ = pool.released(1, canReuse: true, now: at(0))
    #expect(pool.closed(1, now: at(1)) == [])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [.dial("a")])
    #expect(pool.counts.idle == 0)
  }

  @Test("A failed dial fails one waiter and is repeated for the others")
  func dialFailed() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    for waiter in ["v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.dialFailed(for: "a", now: at(1)) == [.refuse("v", .dialFailed), .dial("a")])
    #expect(pool.dialFailed(for: "a", now: at(1)) == [.refuse("w", .dialFailed)])
    #expect(pool.isEmpty)
  }

  @Test("A failed dial fails nobody if other dials suffice")
  func surplusDialFailed() {
    var pool = pool()
    for waiter in ["v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.cancelled("v")
    #expect(pool.dialFailed(for: "a", now: at(1)) == [])
    #expect(pool.dialed(1, for: "a", now: at(1)) == [.use(1, "w")])
  }

  @Test("Beyond the total limit the longest idle connection is closed for another origin")
  func total() {
    var pool = pool()
    for (origin, connection) in [("a", 1), ("b", 2), ("c", 3)] {
      _ = pool.acquire("w", for: origin, now: at(0))
      _ = pool.dialed(connection, for: origin, now: at(0))
      _ = pool.released(connection, canReuse: true, now: at(connection))
    }
    #expect(pool.acquire("x", for: "d", now: at(9)) == [.close(1), .dial("d")])
    #expect(!pool.knows(origin: "a"))
  }

  @Test("An origin that waits for the total limit gets the first free place")
  func starved() {
    var pool = pool { $0.connections = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    #expect(pool.acquire("w", for: "b", now: at(0)) == [])
    #expect(pool.acquire("x", for: "c", now: at(0)) == [])
    _ = pool.cancelled("x")
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1), .dial("b")])
    #expect(pool.dialFailed(for: "b", now: at(1)) == [.refuse("w", .dialFailed)])
    #expect(!pool.hasStarvedOrigins)
  }

  @Test("An origin that came first gets a used connection's place, however many wait for the busy one")
  func fairness() {
    var pool = pool { ($0.connections, $0.connectionsPerOrigin) = (1, 1) }
    _ = pool.acquire("a1", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    for waiter in ["a2", "b1", "a3"] {
      #expect(pool.acquire(waiter, for: waiter == "b1" ? "b" : "a", now: at(0)) == [])
    }
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.use(1, "a2")])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1), .dial("b")])
    #expect(pool.dialed(2, for: "b", now: at(2)) == [.use(2, "b1")])
    #expect(pool.released(2, canReuse: true, now: at(3)) == [.close(2), .dial("a")])
    #expect(pool.dialed(3, for: "a", now: at(3)) == [.use(3, "a3")])
  }

  @Test("Two busy origins reach equal shares, and then connections do not oscillate")
  func shares() {
    var pool = pool { ($0.connections, $0.connectionsPerOrigin) = (4, 4) }
    for number in 1...4 {
      _ = pool.acquire("a\(number)", for: "a", now: at(0))
      _ = pool.dialed(number, for: "a", now: at(0))
    }
    for number in 1...4 { #expect(pool.acquire("b\(number)", for: "b", now: at(0)) == []) }
    for number in 5...9 { #expect(pool.acquire("a\(number)", for: "a", now: at(0)) == []) }
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1), .dial("b")])
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.close(2), .dial("b")])
    #expect(pool.released(3, canReuse: true, now: at(1)) == [.use(3, "a5")])
    #expect(pool.dialed(5, for: "b", now: at(1)) == [.use(5, "b1")])
    #expect(pool.released(5, canReuse: true, now: at(1)) == [.use(5, "b2")])
  }

  @Test(
    "Waiters beyond the queue's limit are refused; those with a dial under way or a former connection do not count")
  func queueFull() {
    var pool = pool { ($0.waiting, $0.connectionsPerOrigin, $0.connections) = (1, 1, 2) }
    #expect(pool.acquire("v", for: "a", now: at(0)) == [.dial("a")])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.acquire("x", for: "a", now: at(0)) == [.refuse("x", .queueFull)])
    #expect(pool.acquire("y", for: "b", now: at(0)) == [.dial("b")])
    #expect(pool.acquire("z", for: "c", now: at(0)) == [.refuse("z", .queueFull)])
    #expect(!pool.knows(origin: "c"))
    #expect(pool.acquire("z", for: "c", isAdmitted: true, now: at(0)) == [])
  }

  @Test("With a queue limit of zero, calls proceed as long as connections may be made")
  func noQueue() {
    var pool = pool { ($0.waiting, $0.connectionsPerOrigin) = (0, 2) }
    #expect(pool.acquire("v", for: "a", now: at(0)) == [.dial("a")])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.dial("a")])
    #expect(pool.acquire("x", for: "a", now: at(0)) == [.refuse("x", .queueFull)])
  }

  @Test("Connections idle for too long are closed when the pool wakes, the others later")
  func idleTimeout() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.dialed(connection, for: "a", now: at(0))
    }
    #expect(pool.released(1, canReuse: true, now: at(10)) == [.wake(at(70))])
    #expect(pool.released(2, canReuse: true, now: at(30)) == [])
    #expect(pool.tick(now: at(70)) == [.close(1), .wake(at(90))])
    #expect(pool.tick(now: at(90)) == [.close(2)])
    #expect(pool.isEmpty)
  }

  @Test("Connections idle for too long are not used, even if the pool did not wake")
  func lateTick() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.dialed(1, for: "a", now: at(0))
    _ = pool.released(1, canReuse: true, now: at(0))
    #expect(pool.acquire("w", for: "a", now: at(60)) == [.close(1), .dial("a")])
  }

  @Test("A connection past its age is closed: at once when it becomes free, in time when idle")
  func age() {
    var pool = pool { $0.maximumAge = .seconds(20) }
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.dialed(connection, for: "a", now: at(0))
    }
    #expect(pool.released(1, canReuse: true, now: at(5)) == [.wake(at(20))])
    #expect(pool.released(2, canReuse: true, now: at(20)) == [.close(2)])
    #expect(pool.tick(now: at(20)) == [.close(1)])
  }

  @Test("A pool that is shut down refuses waiters and new calls, lets exchanges end, and reports when it is empty")
  func shutDown() {
    var pool = pool()
    for waiter in ["u", "v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.dialed(1, for: "a", now: at(0))
    #expect(pool.shutDown() == [.refuse("v", .shutDown), .refuse("w", .shutDown)])
    #expect(pool.shutDown() == [])
    #expect(pool.acquire("x", for: "a", now: at(1)) == [.refuse("x", .shutDown)])
    #expect(pool.dialed(2, for: "a", now: at(1)) == [.close(2)])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1), .drained])
    #expect(pool.isEmpty)
  }

  @Test("A pool without connections is drained as soon as it is shut down")
  func shutDownEmpty() {
    var pool = pool()
    #expect(pool.shutDown() == [.drained])
    var used = self.pool()
    _ = used.acquire("v", for: "a", now: at(0))
    _ = used.dialed(1, for: "a", now: at(0))
    _ = used.released(1, canReuse: true, now: at(0))
    #expect(used.shutDown() == [.close(1), .drained])
  }
}
