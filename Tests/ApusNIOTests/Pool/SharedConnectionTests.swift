import ApusCore
import Testing

@testable import ApusNIO

@Suite("Shared connections of the pool")
struct SharedConnectionTests {
  typealias Pool = PoolState<String, Int, String>

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  /// Returns a pool to whose origins the protocol is unknown. Origin `old` is known to support only HTTP/1.1.
  private func pool(_ change: (inout PoolLimits) -> Void = { _ in }) -> Pool {
    var limits = PoolLimits()
    limits.connectionsPerOrigin = 2
    limits.connections = 3
    limits.idleTimeout = .seconds(60)
    change(&limits)
    return Pool(limits: limits) { $0 == "old" ? 1 : .max }
  }

  /// Returns a pool with connection 1 to origin a, which carries exchanges for these waiters.
  private func pool(
    carrying waiters: [String], capacity: Int, _ change: (inout PoolLimits) -> Void = { _ in }
  ) -> Pool {
    var pool = pool(change)
    for waiter in waiters { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.connected(1, for: "a", capacity: capacity, now: at(0)) == waiters.map { .use(1, $0) })
    return pool
  }

  // MARK: Attempts

  @Test("The first calls to an origin of unknown protocol share one connection attempt, and start together over HTTP/2")
  func oneAttempt() {
    var pool = pool()
    let waiters = (0..<100).map { "w\($0)" }
    #expect(waiters.flatMap { pool.acquire($0, for: "a", now: at(0)) } == [.connect("a")])
    #expect(pool.isConnecting(forLastOf: "a"))
    #expect(pool.connected(1, for: "a", capacity: 100, now: at(1)) == waiters.map { .use(1, $0) })
    #expect(pool.counts == .init(active: 1, idle: 0, connecting: 0, waiting: 0))
  }

  @Test("If the protocol turns out to be HTTP/1.1, one call starts and the other connections are made at once")
  func becomesHTTP1() {
    var pool = pool { ($0.connectionsPerOrigin, $0.connections) = (4, 10) }
    for waiter in ["t", "u", "v", "w", "x"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(
      pool.connected(1, for: "a", capacity: 1, now: at(1))
        == [.use(1, "t"), .connect("a"), .connect("a"), .connect("a")])
    #expect(!pool.isConnecting(forLastOf: "a"))
  }

  @Test("Each call to an origin that supports only HTTP/1.1 starts a connection attempt of its own")
  func assumedHTTP1() {
    var pool = pool()
    for waiter in ["v", "w"] { #expect(pool.acquire(waiter, for: "old", now: at(0)) == [.connect("old")]) }
  }

  @Test("The last capacity of an origin decides how many connections are made, even after all connections are closed")
  func remembered() {
    var pool = pool(carrying: ["u"], capacity: 2)
    _ = pool.closed(1, now: at(1))
    #expect(pool.isEmpty)
    #expect(["v", "w"].flatMap { pool.acquire($0, for: "a", now: at(2)) } == [.connect("a")])
    #expect(pool.acquire("x", for: "a", now: at(2)) == [.connect("a")])
    _ = pool.connected(2, for: "a", capacity: 2, now: at(3))
    #expect(pool.capacityChanged(2, to: 5) == [.use(2, "x")])
    _ = pool.connectGivenUp(for: "a")
    _ = pool.closed(2, now: at(4))
    let waiters = (0..<6).map { "y\($0)" }
    #expect(waiters.flatMap { pool.acquire($0, for: "a", now: at(5)) } == [.connect("a"), .connect("a")])
  }

  @Test("A reported capacity of zero is not expected of the next connection")
  func zeroIsNotRemembered() {
    var pool = pool(carrying: ["u"], capacity: 3) { ($0.connectionsPerOrigin, $0.connections) = (9, 9) }
    #expect(pool.capacityChanged(1, to: 0) == [])
    let waiters = ["v", "w", "x"]
    #expect(waiters.flatMap { pool.acquire($0, for: "a", now: at(1)) } == [.connect("a")])
  }

  @Test("Waiters that a connection being made is expected to carry do not count toward the queue's limit")
  func queueFull() {
    var pool = pool(carrying: ["u"], capacity: 3) { ($0.connectionsPerOrigin, $0.waiting) = (1, 1) }
    _ = pool.closed(1, now: at(1))
    for waiter in ["v", "w", "x", "y"] {
      #expect(pool.acquire(waiter, for: "a", now: at(2)) == (waiter == "v" ? [.connect("a")] : []))
    }
    #expect(!pool.isConnecting(forLastOf: "a"))
    #expect(pool.acquire("z", for: "a", now: at(2)) == [.refuse("z", .queueFull)])
    // The attempt to a has no capacity for waiters of another origin.
    #expect(pool.acquire("old", for: "old", now: at(2)) == [.connect("old")])
    #expect(pool.acquire("older", for: "old", now: at(2)) == [.refuse("older", .queueFull)])
  }

  @Test("A failed connection attempt fails the calls that arrived before it started, and one new attempt is made")
  func connectFailed() {
    var pool = pool()
    for waiter in ["u", "v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.connectFailed(for: "a", now: at(1)) == [.refuse("u", .connectFailed), .connect("a")])
    _ = pool.acquire("x", for: "a", now: at(1))
    #expect(
      pool.connectFailed(for: "a", now: at(2))
        == [.refuse("v", .connectFailed), .refuse("w", .connectFailed), .connect("a")])
    #expect(pool.connectFailed(for: "a", now: at(3)) == [.refuse("x", .connectFailed)])
    #expect(pool.isEmpty)
  }

  @Test("A failed connection attempt fails at most as many calls as its connection was expected to carry")
  func connectFailedForSome() {
    var pool = pool(carrying: ["u"], capacity: 2) { $0.connectionsPerOrigin = 1 }
    let waiters = ["v", "w", "x", "y", "z"]
    for waiter in waiters { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    // The connection carries v as well.
    #expect(pool.closed(1, now: at(1)) == [.connect("a")])
    #expect(
      pool.connectFailed(for: "a", now: at(2))
        == [.refuse("w", .connectFailed), .refuse("x", .connectFailed), .connect("a")])
    #expect(
      pool.connectFailed(for: "a", now: at(3)) == [.refuse("y", .connectFailed), .refuse("z", .connectFailed)])
  }

  @Test("A failed connection attempt fails no call for which the remaining attempts suffice")
  func connectFailedWithSpare() {
    var pool = pool(carrying: ["u"], capacity: 2)
    _ = pool.closed(1, now: at(1))
    for waiter in ["v", "w", "x"] { _ = pool.acquire(waiter, for: "a", now: at(1)) }
    #expect(pool.counts.connecting == 2)
    // The first attempt was made for v, and the second attempt suffices for two of three calls.
    #expect(pool.connectFailed(for: "a", now: at(2)) == [.refuse("v", .connectFailed)])
    #expect(pool.connected(2, for: "a", capacity: 2, now: at(3)) == [.use(2, "w"), .use(2, "x")])
  }

  @Test("A call that requires a new connection starts an attempt although the connections have capacity")
  func wantsNew() {
    var pool = pool(carrying: ["u"], capacity: 100)
    #expect(pool.acquireNew("v", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [.use(1, "w")])
    // Other calls may fill the connection that is being made, so there is one attempt more than needed, but not two.
    pool = self.pool(carrying: ["u"], capacity: 100) { ($0.connectionsPerOrigin, $0.connections) = (9, 9) }
    #expect(pool.acquireNew("v", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.acquireNew("w", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.acquireNew("x", for: "a", now: at(1)) == [])
  }

  @Test("Calls that require new connections after the loss of their connection share one attempt")
  func wantNewAfterLoss() {
    var pool = pool(carrying: ["u", "v", "w"], capacity: 100)
    _ = pool.closed(1, now: at(1))
    #expect(["u", "v", "w"].flatMap { pool.acquireNew($0, for: "a", now: at(1)) } == [.connect("a")])
  }

  // MARK: Uses and capacity

  @Test("A connection takes calls up to its capacity; then a second connection is made")
  func secondConnection() {
    var pool = pool(carrying: ["u"], capacity: 2)
    #expect(pool.acquire("v", for: "a", now: at(1)) == [.use(1, "v")])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.connected(2, for: "a", capacity: 2, now: at(1)) == [.use(2, "w")])
    #expect(pool.acquire("x", for: "a", now: at(1)) == [.use(2, "x")])
    // Both connections are full, and the limit per origin is reached.
    #expect(pool.acquire("y", for: "a", now: at(1)) == [])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.use(1, "y")])
  }

  @Test("Calls concentrate on the connection that became free last, so that the other connection becomes idle")
  func concentration() {
    var pool = pool(carrying: ["t", "u"], capacity: 2)
    for waiter in ["v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(1)) }
    _ = pool.connected(2, for: "a", capacity: 2, now: at(1))
    _ = pool.released(2, canReuse: true, now: at(2))
    _ = pool.released(1, canReuse: true, now: at(2))
    for (second, waiter) in ["x", "y", "z"].enumerated() {
      #expect(pool.acquire(waiter, for: "a", now: at(3 + second)) == [.use(1, waiter)])
      #expect(pool.released(1, canReuse: true, now: at(3 + second)) == [])
    }
    #expect(pool.released(2, canReuse: true, now: at(9)) == [.wake(at(69))])
    #expect(pool.counts == .init(active: 1, idle: 1, connecting: 0, waiting: 0))
    #expect(pool.tick(now: at(69)) == [.close(2)])
  }

  @Test("A larger capacity serves waiters, and a smaller capacity takes effect as exchanges end")
  func capacityChanges() {
    var pool = pool(carrying: ["t", "u"], capacity: 2) { $0.connectionsPerOrigin = 1 }
    for waiter in ["v", "w", "x"] { #expect(pool.acquire(waiter, for: "a", now: at(1)) == []) }
    #expect(pool.capacityChanged(1, to: 4) == [.use(1, "v"), .use(1, "w")])
    #expect(pool.capacityChanged(1, to: 2) == [])
    for _ in 0..<2 { #expect(pool.released(1, canReuse: true, now: at(2)) == []) }
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.use(1, "x")])
    // Capacity that appears without waiters is found by the next call.
    _ = pool.capacityChanged(1, to: 3)
    #expect(pool.acquire("y", for: "a", now: at(3)) == [.use(1, "y")])
    #expect(pool.capacityChanged(99, to: 3) == [])
  }

  @Test("If a smaller capacity shows that the attempts under way do not suffice, further connections are made")
  func capacityShowsNeed() {
    var pool = pool(carrying: ["u"], capacity: 1) { ($0.connectionsPerOrigin, $0.connections) = (4, 9) }
    #expect(pool.capacityChanged(1, to: 9) == [])
    let waiters = (0..<11).map { "w\($0)" }
    // Eight calls fill the first connection, and one attempt suffices for three.
    #expect(waiters.flatMap { pool.acquire($0, for: "a", now: at(1)) }.last == .connect("a"))
    #expect(pool.counts.connecting == 1)
    #expect(pool.capacityChanged(1, to: 2) == [.connect("a")])
  }

  @Test("A connection without capacity counts toward its origin's limit")
  func noCapacity() {
    var pool = pool(carrying: ["u"], capacity: 9)
    #expect(pool.capacityChanged(1, to: 0) == [])
    #expect(pool.acquire("v", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.connected(2, for: "a", capacity: 0, now: at(1)) == [.wake(at(61))])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [])
    #expect(pool.capacityChanged(2, to: 1) == [.use(2, "v")])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [])
    #expect(pool.capacityChanged(1, to: 1) == [.use(1, "w")])
  }

  @Test("An idle connection without capacity is closed for another origin, but not for its own, until it expires")
  func noCapacityAtTotal() {
    var pool = pool { ($0.connections, $0.connectionsPerOrigin) = (1, 2) }
    _ = pool.acquire("u", for: "a", now: at(0))
    #expect(pool.connected(1, for: "a", capacity: 0, now: at(0)) == [.wake(at(60))])
    #expect(pool.acquire("v", for: "a", now: at(1)) == [])
    #expect(pool.tick(now: at(60)) == [.close(1), .connect("a")])
    #expect(pool.connected(2, for: "a", capacity: 0, now: at(60)) == [.wake(at(120))])
    #expect(pool.acquire("w", for: "b", now: at(61)) == [.close(2), .connect("b")])
    #expect(pool.hasStarvedOrigins)
    #expect(pool.connectFailed(for: "b", now: at(62)) == [.refuse("w", .connectFailed), .connect("a")])
  }

  @Test("A shared connection is closed for another origin only when it carries no exchange")
  func rival() {
    var pool = pool(carrying: ["t", "u"], capacity: 2) { ($0.connections, $0.connectionsPerOrigin) = (1, 1) }
    #expect(pool.acquire("v", for: "b", now: at(1)) == [])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.use(1, "w")])
    #expect(pool.acquire("x", for: "a", now: at(3)) == [])
    _ = pool.capacityChanged(1, to: 1)
    #expect(pool.released(1, canReuse: true, now: at(4)) == [])
    #expect(pool.released(1, canReuse: true, now: at(5)) == [.close(1), .connect("b")])
  }

  // MARK: Suspension and retirement

  @Test("A suspended connection takes no call and does not count toward its origin's limit, until it is resumed")
  func suspension() {
    var pool = pool(carrying: ["u"], capacity: 9) { $0.connectionsPerOrigin = 1 }
    #expect(pool.suspended(1) == [])
    #expect(pool.suspended(1) == [])
    #expect(pool.resumed(1) == [])
    #expect(pool.acquire("v", for: "a", now: at(1)) == [.use(1, "v")])
    #expect(pool.released(1, canReuse: true, isSuspended: true, now: at(1)) == [])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [.connect("a")])
    // The resumed connection would exceed the limit per origin.
    #expect(pool.resumed(1) == [])
    #expect(pool.resumed(1) == [])
    #expect(pool.connected(2, for: "a", capacity: 1, now: at(1)) == [.use(2, "w")])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1)])
  }

  @Test("A resumed connection serves waiters, and is closed if it is idle and its origin has too many connections")
  func resumption() {
    var pool = pool(carrying: ["u"], capacity: 2) { ($0.connectionsPerOrigin, $0.connections) = (1, 1) }
    _ = pool.suspended(1)
    #expect(pool.acquire("v", for: "a", now: at(1)) == [])
    #expect(pool.resumed(1) == [.use(1, "v")])
    pool = self.pool(carrying: ["u"], capacity: 2) { $0.connectionsPerOrigin = 1 }
    _ = pool.released(1, canReuse: true, isSuspended: true, now: at(1))
    #expect(pool.counts.idle == 1)
    #expect(pool.acquire("v", for: "a", now: at(1)) == [.connect("a")])
    #expect(pool.resumed(1) == [.close(1)])
    #expect(pool.counts == .init(active: 0, idle: 0, connecting: 1, waiting: 1))
  }

  @Test("A connection that may not be reused takes no call, and is closed after its last exchange")
  func retirement() {
    var pool = pool(carrying: ["t", "u"], capacity: 2) { $0.connectionsPerOrigin = 1 }
    #expect(pool.acquire("v", for: "a", now: at(1)) == [])
    #expect(pool.released(1, canReuse: false, now: at(1)) == [.connect("a")])
    for actions in [pool.resumed(1), pool.suspended(1), pool.capacityChanged(1, to: 9)] { #expect(actions == []) }
    #expect(pool.connected(2, for: "a", capacity: 2, now: at(2)) == [.use(2, "v")])
    #expect(pool.released(1, canReuse: true, now: at(3)) == [.close(1)])
    #expect(pool.released(1, canReuse: true, now: at(3)) == [])
  }

  @Test("A connection beyond the maximum age takes no call, and is closed after its last exchange")
  func age() {
    let limits = { (limits: inout PoolLimits) in (limits.maximumAge, limits.connectionsPerOrigin) = (.seconds(20), 1) }
    // The next call notices the age.
    var pool = pool(carrying: ["t", "u"], capacity: 9, limits)
    #expect(pool.acquire("v", for: "a", now: at(20)) == [.connect("a")])
    #expect(pool.released(1, canReuse: true, now: at(21)) == [])
    #expect(pool.released(1, canReuse: true, now: at(21)) == [.close(1)])
    // The end of an exchange notices the age.
    pool = self.pool(carrying: ["t", "u"], capacity: 2, limits)
    #expect(pool.acquire("v", for: "a", now: at(1)) == [])
    #expect(pool.released(1, canReuse: true, now: at(20)) == [.connect("a")])
    #expect(pool.released(1, canReuse: true, now: at(21)) == [.close(1)])
  }

  @Test("A shutdown closes idle connections, also suspended ones, and lets all exchanges of shared connections end")
  func shutDown() {
    var pool = pool(carrying: ["t", "u"], capacity: 9)
    _ = pool.acquireNew("v", for: "a", now: at(1))
    _ = pool.connected(2, for: "a", capacity: 9, now: at(1))
    _ = pool.released(2, canReuse: true, isSuspended: true, now: at(1))
    #expect(pool.shutDown() == [.close(2)])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [])
    #expect(pool.released(1, canReuse: true, now: at(2)) == [.close(1), .drained])
    #expect(pool.isEmpty)
  }

  // MARK: Knowledge of origins

  @Test("While an origin is restricted to HTTP/1.1, connections are expected to carry one exchange")
  func restriction() {
    var pool = pool { ($0.connectionsPerOrigin, $0.connections) = (4, 9) }
    for waiter in ["u", "v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.restrictToHTTP1("a", until: at(100)) { _ in false } == [.connect("a"), .connect("a")])
    #expect(!pool.allowsMultiplexing("a", now: at(99)) && pool.allowsMultiplexing("a", now: at(100)))
    // An older connection may still report a capacity.
    #expect(pool.connected(1, for: "a", capacity: 2, now: at(1)) == [.use(1, "u"), .use(1, "v")])
    _ = pool.capacityChanged(1, to: 1)
    _ = pool.connectGivenUp(for: "a")
    #expect(pool.acquire("x", for: "a", now: at(2)) == [.connect("a")])
    for connection in [2, 3] { _ = pool.connected(connection, for: "a", capacity: 1, now: at(3)) }
    #expect(pool.acquire("y", for: "a", now: at(4)) == [.connect("a")])
    #expect(pool.connected(4, for: "a", capacity: 2, now: at(100)) == [.use(4, "y")])
    // A restriction also applies to an origin without connections and waiters.
    #expect(pool.restrictToHTTP1("b", until: at(200)) { _ in true } == [])
    for waiter in ["v", "w"] { #expect(pool.acquire(waiter, for: "b", now: at(199)) == [.connect("b")]) }
  }

  @Test("A restriction retires the shared connections of its origin")
  func restrictionRetires() {
    var pool = pool(carrying: ["t"], capacity: 9)
    _ = pool.acquireNew("v", for: "a", now: at(1))
    #expect(pool.connected(2, for: "a", capacity: 9, now: at(1)) == [.use(2, "v")])
    _ = pool.acquire("w", for: "b", now: at(1))
    #expect(pool.connected(3, for: "b", capacity: 9, now: at(1)) == [.use(3, "w")])
    _ = pool.released(2, canReuse: true, now: at(2))
    // An idle connection is closed at once, a used one after its last exchange.
    #expect(pool.restrictToHTTP1("a", until: at(100)) { $0 < 4 } == [.close(2)])
    #expect(pool.acquire("x", for: "a", now: at(3)) == [.connect("a")])
    #expect(pool.connected(4, for: "a", capacity: 1, now: at(3)) == [.use(4, "x")])
    #expect(pool.released(1, canReuse: true, now: at(4)) == [.close(1)])
    #expect(pool.acquire("y", for: "b", now: at(4)) == [.use(3, "y")])
    #expect(pool.restrictToHTTP1("a", until: at(100)) { $0 < 4 } == [])
    #expect(pool.released(4, canReuse: true, now: at(5)) == [])
    #expect(pool.acquire("z", for: "a", now: at(5)) == [.use(4, "z")])
  }

  @Test("Several attempts to an origin of unknown protocol suffice for any number of calls")
  func unlimitedExpectation() {
    var pool = pool { ($0.connectionsPerOrigin, $0.connections) = (9, 9) }
    for waiter in ["u", "v", "w"] { _ = pool.acquire(waiter, for: "a", now: at(0)) }
    #expect(pool.restrictToHTTP1("a", until: at(5)) { _ in false } == [.connect("a"), .connect("a")])
    #expect(pool.connected(1, for: "a", capacity: 0, now: at(5)) == [.wake(at(65))])
    #expect(pool.isConnecting(forLastOf: "a"))
  }

  @Test("A pause of an origin delays its connection attempts until a wake-up at its end")
  func calm() {
    var pool = pool()
    #expect(pool.calm("a", until: at(5)) == [.wake(at(5))])
    #expect(pool.calm("a", until: at(4)) == [])
    #expect(pool.acquire("u", for: "a", now: at(1)) == [])
    #expect(!pool.isConnecting(forLastOf: "a"))
    #expect(pool.acquire("v", for: "b", now: at(1)) == [.connect("b")])
    #expect(pool.tick(now: at(4)) == [.wake(at(5))])
    #expect(pool.tick(now: at(5)) == [.connect("a")])
    #expect(pool.connected(1, for: "a", capacity: 9, now: at(6)) == [.use(1, "u")])
  }

  @Test("A pause that ends before the pending wake-up requests an earlier wake-up, and wake-ups do not accumulate")
  func earlierWakeUp() {
    var pool = pool(carrying: ["u"], capacity: 9)
    #expect(pool.released(1, canReuse: true, now: at(0)) == [.wake(at(60))])
    #expect(pool.calm("a", until: at(5)) == [.wake(at(5))])
    #expect(pool.calm("b", until: at(7)) == [])
    #expect(pool.calm("c", until: at(70)) == [])
    #expect(pool.tick(now: at(5)) == [.wake(at(7))])
    // The wake-up at 60 s is still pending.
    #expect(pool.tick(now: at(7)) == [])
    #expect(pool.tick(now: at(60)) == [.close(1), .wake(at(70))])
    #expect(pool.tick(now: at(70)) == [])
  }

  @Test("A pause does not affect calls that find a free connection, and ends with a shutdown")
  func calmWithConnection() {
    var pool = pool(carrying: ["u"], capacity: 2)
    _ = pool.calm("a", until: at(5))
    #expect(pool.acquire("v", for: "a", now: at(1)) == [.use(1, "v")])
    #expect(pool.acquire("w", for: "a", now: at(1)) == [])
    #expect(pool.shutDown() == [.refuse("w", .shutDown)])
    #expect(pool.calm("a", until: at(9)) == [])
    #expect(pool.tick(now: at(5)) == [])
  }
}
