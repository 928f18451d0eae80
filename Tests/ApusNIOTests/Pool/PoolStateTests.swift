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

  @Test("The first call starts a connection attempt and uses the connection")
  func first() {
    var pool = pool()
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.connect("a")])
    #expect(pool.connected(1, for: "a", capacity: 1, now: at(1)) == [.use(1, "w")])
  }

  @Test("The most recently used idle connection is reused first")
  func reuse() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      #expect(pool.acquire(waiter, for: "a", now: at(0)) == [.connect("a")])
      #expect(pool.connected(connection, for: "a", capacity: 1, now: at(0)) == [.use(connection, waiter)])
    }
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.wake(at(61))])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [])
    #expect(pool.acquire("x", for: "a", now: at(3)) == [.use(1, "x")])
    #expect(pool.acquire("y", for: "a", now: at(3)) == [.use(2, "y")])
  }

  @Test("A call that requires a new connection uses no idle connection, and at the limit closes the oldest connection")
  func wantsNew() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    _ = pool.released(1, canReuse: true, now: at(1))
    #expect(pool.acquireNew("w", for: "a", now: at(2)) == [.connect("a")])
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(2)) == [.use(2, "w")])
    _ = pool.released(2, canReuse: true, now: at(3))
    #expect(pool.counts.idle == 2)
    // The origin has two idle connections, the maximum.
    #expect(pool.acquireNew("x", for: "a", now: at(3)) == [.close(1), .connect("a")])
    #expect(pool.acquire("y", for: "a", now: at(4)) == [.use(2, "y")])
    #expect(pool.connected(3, for: "a", capacity: 1, now: at(4)) == [.use(3, "x")])
  }

  @Test("A call beyond its origin's limit waits and gets the first free connection")
  func limitPerOrigin() {
    var pool = pool()
    for waiter in ["u", "v"] { #expect(pool.acquire(waiter, for: "a", now: at(0)) == [.connect("a")]) }
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.connected(1, for: "a", capacity: 1, now: at(0)) == [.use(1, "u")])
    #expect(pool.released(1, canReuse: true, now: at(0)) == [.use(1, "v")])
    // The second connection was made for v, which already has a connection, so the next waiter gets it.
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(0)) == [.use(2, "w")])
  }

  @Test("A streaming connection counts toward the total limit, but not toward its origin's limit")
  func streams() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.connected(connection, for: "a", capacity: 1, now: at(0))
    }
    #expect(pool.acquire("x", for: "a", now: at(0)) == [])
    #expect(!pool.isConnecting(forLastOf: "a"))
    // A streaming connection permits one further connection.
    #expect(pool.suspended(1) == [.connect("a")])
    #expect(pool.isConnecting(forLastOf: "a"))
    #expect(pool.suspended(1) == [])
    #expect(pool.connected(3, for: "a", capacity: 1, now: at(0)) == [.use(3, "x")])
    // The total limit is three, streams included.
    #expect(pool.suspended(2) == [])
    #expect(pool.acquire("y", for: "a", now: at(0)) == [])
    #expect(!pool.isConnecting(forLastOf: "a"))
    #expect(pool.closed(1, now: at(1)) == [.connect("a")])
  }

  @Test("When a stream ends, its connection is closed if another connection was made in its place")
  func endedStream() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    #expect(pool.suspended(1) == [])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.connect("a")])
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(0)) == [.use(2, "w")])
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1)])
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.wake(at(61))])
    // If no further connection was opened because of the stream, the connection is reusable after the stream.
    #expect(pool.acquire("x", for: "a", now: at(2)) == [.use(2, "x")])
    #expect(pool.suspended(2) == [])
    #expect(pool.released(2, canReuse: true, now: at(3)) == [])
    #expect(pool.acquire("y", for: "a", now: at(3)) == [.use(2, "y")])
  }

  @Test("A connection attempt that was given up does not fail later callers")
  func givenUp() {
    var pool = pool()
    _ = pool.acquire("w", for: "a", now: at(0))
    #expect(!pool.hasUnneededAttempts(to: "a"))
    _ = pool.cancelled("w")
    #expect(pool.hasUnneededAttempts(to: "a"))
    // The call waits for the connection attempt in progress.
    #expect(pool.acquire("x", for: "a", now: at(0)) == [])
    #expect(pool.connectGivenUp(for: "a") == [.connect("a")])
    _ = pool.cancelled("x")
    #expect(pool.connectGivenUp(for: "a") == [])
    #expect(pool.isEmpty)
  }

  @Test("A connection whose waiter left becomes idle for the next call")
  func surplus() {
    var pool = pool()
    _ = pool.acquire("w", for: "a", now: at(0))
    #expect(pool.cancelled("w") == [])
    #expect(pool.connected(1, for: "a", capacity: 1, now: at(0)) == [.wake(at(60))])
    #expect(pool.acquire("x", for: "a", now: at(1)) == [.use(1, "x")])
  }

  @Test("A waiter that left gets no connection, and leaving twice has no effect")
  func cancelled() {
    var pool = pool()
    for waiter in ["u", "v", "w", "x"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    #expect(pool.cancelled("v") == [])
    #expect(pool.cancelled("v") == [])
    #expect(pool.released(1, canReuse: true, now: at(0)) == [.use(1, "w")])
  }

  @Test("A connection that cannot be reused is closed, and replaced for its waiters")
  func notReusable() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.released(1, canReuse: false, now: at(0)) == [.close(1), .connect("a")])
    #expect(pool.closed(1, now: at(0)) == [])
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(0)) == [.use(2, "w")])
  }

  @Test("A connection that the server closes while idle is not used")
  func closedWhileIdle() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    _ = pool.released(1, canReuse: true, now: at(0))
    #expect(pool.closed(1, now: at(1)) == [])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.counts.idle == 0)
  }

  @Test("A failed connection attempt fails one waiter, and a new attempt starts for the other waiters")
  func connectFailed() {
    var pool = pool { $0.connectionsPerOrigin = 1 }
    for waiter in ["v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.connectFailed(for: "a", now: at(1)) == [.refuse("v", .connectFailed), .connect("a")])
    #expect(pool.connectFailed(for: "a", now: at(1)) == [.refuse("w", .connectFailed)])
    #expect(pool.isEmpty)
  }

  @Test("A failed connection attempt fails no waiter if the other connection attempts suffice")
  func surplusConnectFailed() {
    var pool = pool()
    for waiter in ["v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.cancelled("v")
    #expect(pool.connectFailed(for: "a", now: at(1)) == [])
    #expect(pool.connected(1, for: "a", capacity: 1, now: at(1)) == [.use(1, "w")])
  }

  @Test("At the total limit, the longest idle connection is closed for another origin")
  func total() {
    var pool = pool()
    for (origin, connection) in [("a", 1), ("b", 2), ("c", 3)] {
      _ = pool.acquire("w", for: origin, now: at(0))
      _ = pool.connected(connection, for: origin, capacity: 1, now: at(0))
      _ = pool.released(connection, canReuse: true, now: at(connection))
    }
    #expect(pool.acquire("x", for: "d", now: at(9)) == [.close(1), .connect("d")])
    #expect(!pool.knows(origin: "a"))
  }

  @Test("An origin that waits because of the total limit gets the first connection that may be made")
  func starved() {
    var pool = pool { $0.connections = 1 }
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    #expect(pool.acquire("w", for: "b", now: at(0)) == [])
    #expect(pool.acquire("x", for: "c", now: at(0)) == [])
    _ = pool.cancelled("x")
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1), .connect("b")])
    #expect(pool.connectFailed(for: "b", now: at(1)) == [.refuse("w", .connectFailed)])
    #expect(!pool.hasStarvedOrigins)
  }

  @Test("A freed connection is closed for an origin whose waiter came first, however many wait for the busy origin")
  func fairness() {
    var pool = pool { ($0.connections, $0.connectionsPerOrigin) = (1, 1) }
    _ = pool.acquire("a1", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    for waiter in ["a2", "b1", "a3"] {
      #expect(pool.acquire(waiter, for: waiter == "b1" ? "b" : "a", now: at(0)) == [])
    }
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.use(1, "a2")])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1), .connect("b")])
    #expect(pool.connected(2, for: "b", capacity: 1, now: at(2)) == [.use(2, "b1")])
    #expect(pool.released(2, canReuse: true, now: at(3)) == [.close(2), .connect("a")])
    #expect(pool.connected(3, for: "a", capacity: 1, now: at(3)) == [.use(3, "a3")])
  }

  @Test("Two busy origins reach equal shares of connections, which then stay stable")
  func shares() {
    var pool = pool { ($0.connections, $0.connectionsPerOrigin) = (4, 4) }
    for number in 1...4 {
      _ = pool.acquire("a\(number)", for: "a", now: at(0))
      _ = pool.connected(number, for: "a", capacity: 1, now: at(0))
    }
    for number in 1...4 { #expect(pool.acquire("b\(number)", for: "b", now: at(0)) == []) }
    for number in 5...9 { #expect(pool.acquire("a\(number)", for: "a", now: at(0)) == []) }
    #expect(pool.released(1, canReuse: true, now: at(1)) == [.close(1), .connect("b")])
    #expect(pool.released(2, canReuse: true, now: at(1)) == [.close(2), .connect("b")])
    #expect(pool.released(3, canReuse: true, now: at(1)) == [.use(3, "a5")])
    #expect(pool.connected(5, for: "b", capacity: 1, now: at(1)) == [.use(5, "b1")])
    #expect(pool.released(5, canReuse: true, now: at(1)) == [.use(5, "b2")])
  }

  @Test(
    "Waiters beyond the queue's limit are refused, unless they had a connection or a connection is being made")
  func queueFull() {
    var pool = pool { ($0.waiting, $0.connectionsPerOrigin, $0.connections) = (1, 1, 2) }
    #expect(pool.acquire("v", for: "a", now: at(0)) == [.connect("a")])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [])
    #expect(pool.acquire("x", for: "a", now: at(0)) == [.refuse("x", .queueFull)])
    #expect(pool.acquire("y", for: "b", now: at(0)) == [.connect("b")])
    #expect(pool.acquire("z", for: "c", now: at(0)) == [.refuse("z", .queueFull)])
    #expect(!pool.knows(origin: "c"))
    #expect(pool.acquire("z", for: "c", isAdmitted: true, now: at(0)) == [])
  }

  @Test("With a queue limit of zero, calls proceed while connections may be made")
  func noQueue() {
    var pool = pool { ($0.waiting, $0.connectionsPerOrigin) = (0, 2) }
    #expect(pool.acquire("v", for: "a", now: at(0)) == [.connect("a")])
    #expect(pool.acquire("w", for: "a", now: at(0)) == [.connect("a")])
    #expect(pool.acquire("x", for: "a", now: at(0)) == [.refuse("x", .queueFull)])
  }

  @Test("Connections that are idle for too long are closed at the pool's wake-up")
  func idleTimeout() {
    var pool = pool()
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.connected(connection, for: "a", capacity: 1, now: at(0))
    }
    #expect(pool.released(1, canReuse: true, now: at(10)) == [.wake(at(70))])
    #expect(pool.released(2, canReuse: true, now: at(30)) == [])
    #expect(pool.tick(now: at(70)) == [.close(1), .wake(at(90))])
    #expect(pool.tick(now: at(90)) == [.close(2)])
    #expect(pool.isEmpty)
  }

  @Test("Connections that are idle for too long are not used, even if the wake-up is late")
  func lateTick() {
    var pool = pool()
    _ = pool.acquire("v", for: "a", now: at(0))
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    _ = pool.released(1, canReuse: true, now: at(0))
    #expect(pool.acquire("w", for: "a", now: at(60)) == [.close(1), .connect("a")])
  }

  @Test("A connection beyond the maximum age is closed when it becomes free, or by a wake-up while idle")
  func age() {
    var pool = pool { $0.maximumAge = .seconds(20) }
    for (waiter, connection) in [("v", 1), ("w", 2)] {
      _ = pool.acquire(waiter, for: "a", now: at(0))
      _ = pool.connected(connection, for: "a", capacity: 1, now: at(0))
    }
    #expect(pool.released(1, canReuse: true, now: at(5)) == [.wake(at(20))])
    #expect(pool.released(2, canReuse: true, now: at(20)) == [.close(2)])
    #expect(pool.tick(now: at(20)) == [.close(1)])
  }

  @Test("A pool that is shut down refuses waiters and new calls, lets exchanges end, and reports when it is empty")
  func shutDown() {
    var pool = pool()
    for waiter in ["u", "v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    _ = pool.connected(1, for: "a", capacity: 1, now: at(0))
    #expect(pool.shutDown() == [.refuse("v", .shutDown), .refuse("w", .shutDown)])
    #expect(pool.shutDown() == [])
    #expect(pool.acquire("x", for: "a", now: at(1)) == [.refuse("x", .shutDown)])
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(1)) == [.close(2)])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1), .drained])
    #expect(pool.isEmpty)
  }

  @Test("A pool without connections is drained as soon as it is shut down")
  func shutDownEmpty() {
    var pool = pool()
    #expect(pool.shutDown() == [.drained])
    var used = self.pool()
    _ = used.acquire("v", for: "a", now: at(0))
    _ = used.connected(1, for: "a", capacity: 1, now: at(0))
    _ = used.released(1, canReuse: true, now: at(0))
    #expect(used.shutDown() == [.close(1), .drained])
  }
}
