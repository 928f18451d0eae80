import ApusCore
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// A simulation around a pool that takes random steps and keeps its own records.
struct PoolWorld {
  typealias Pool = PoolState<Int, Int, Int>

  var pool: Pool
  var random: SeededGenerator
  var now = 0
  var nextID = 0
  /// The waiters by state. Each waiter is in exactly one of these sets.
  var waiting: Set<Int> = []
  var using: [Int: Int] = [:]
  var ended: Set<Int> = []
  var idle: Set<Int> = []
  /// The used connections that carry a stream.
  var streaming: Set<Int> = []
  var origins: [Int: Int] = [:]
  var wanted: [Int: Int] = [:]
  var attempts: [Int] = []
  var isDrained = false
  var problems: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    var limits = PoolLimits()
    limits.connectionsPerOrigin = Int.random(in: 1...3, using: &random)
    limits.connections = Int.random(in: 1...6, using: &random)
    limits.waiting = Int.random(in: 4...30, using: &random)
    limits.idleTimeout = .seconds(20)
    limits.maximumAge = Bool.random(using: &random) ? .seconds(50) : nil
    pool = Pool(limits: limits)
  }

  private var instant: MonotonicInstant { MonotonicInstant(sinceStart: .seconds(now)) }

  mutating func step() {
    now += Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<14, using: &random) {
    case 0..<4:
      nextID += 1
      let origin = Int.random(in: 0..<4, using: &random)
      waiting.insert(nextID)
      wanted[nextID] = origin
      perform(pool.acquire(nextID, for: origin, now: instant))
    case 4, 5: endAttempt()
    case 6..<9:
      guard let connection = using.keys.sorted().randomElement(using: &random) else { return }
      end(connection)
    case 9:
      guard let connection = origins.keys.sorted().randomElement(using: &random) else { return }
      lose(connection)
    case 10:
      guard let waiter = waiting.sorted().randomElement(using: &random) else { return }
      waiting.remove(waiter)
      ended.insert(waiter)
      perform(pool.cancelled(waiter))
    case 11:
      guard let connection = using.keys.sorted().randomElement(using: &random) else { return }
      streaming.insert(connection)
      perform(pool.suspended(connection))
    case 12:
      let unwanted = attempts.indices.filter { pool.hasUnneededAttempts(to: attempts[$0]) }
      guard let index = unwanted.randomElement(using: &random) else { return }
      perform(pool.connectGivenUp(for: attempts.remove(at: index)))
    default: perform(pool.tick(now: instant))
    }
    check()
  }

  /// Shuts down and runs until everything has ended.
  mutating func finish() {
    perform(pool.shutDown())
    while !attempts.isEmpty { endAttempt() }
    for connection in using.keys.sorted() { end(connection) }
    if !isDrained { problems.append("was not drained") }
    if !origins.isEmpty || !waiting.isEmpty { problems.append("left something behind") }
    if !pool.isEmpty { problems.append("remembers something") }
  }

  private mutating func endAttempt() {
    guard let index = attempts.indices.randomElement(using: &random) else { return }
    let origin = attempts.remove(at: index)
    guard Int.random(in: 0..<4, using: &random) > 0 else {
      return perform(pool.connectFailed(for: origin, now: instant))
    }
    nextID += 1
    origins[nextID] = origin
    idle.insert(nextID)
    perform(pool.connected(nextID, for: origin, capacity: 1, now: instant))
  }

  private mutating func end(_ connection: Int) {
    guard let waiter = using.removeValue(forKey: connection) else { return }
    ended.insert(waiter)
    idle.insert(connection)
    streaming.remove(connection)
    let canReuse = Int.random(in: 0..<4, using: &random) > 0
    let starving = starvingWaiter
    defer { checkFairness(of: connection, to: starving) }
    perform(pool.released(connection, canReuse: canReuse, now: instant))
  }

  /// The first waiter of an origin that has no connection and no connection attempt.
  private var starvingWaiter: Int? {
    waiting.filter { waiter in
      guard let origin = wanted[waiter] else { return false }
      return !origins.values.contains(origin) && !attempts.contains(origin)
    }.min()
  }

  /// Checks that a connection is not passed to a waiter that arrived later than `starving`, a waiter of an origin
  /// without connections.
  private mutating func checkFairness(of connection: Int, to starving: Int?) {
    guard let starving, let next = using[connection], next > starving else { return }
    problems.append("\(next) was served before \(starving), whose origin has nothing")
  }

  private mutating func lose(_ connection: Int) {
    if let waiter = using.removeValue(forKey: connection) { ended.insert(waiter) }
    origins[connection] = nil
    idle.remove(connection)
    streaming.remove(connection)
    perform(pool.closed(connection, now: instant))
  }

  private mutating func perform(_ actions: [Pool.Action]) {
    for action in actions {
      switch action {
      case .use(let connection, let waiter):
        if waiting.remove(waiter) == nil { problems.append("a connection for \(waiter), who does not wait") }
        if idle.remove(connection) == nil { problems.append("connection \(connection) is not free") }
        if origins[connection] != wanted[waiter] { problems.append("a connection to another origin") }
        using[connection] = waiter
      case .connect(let origin): attempts.append(origin)
      case .refuse(let waiter, _):
        if waiting.remove(waiter) == nil { problems.append("\(waiter) is refused, who does not wait") }
        ended.insert(waiter)
      case .close(let connection):
        if idle.remove(connection) == nil { problems.append("closes \(connection), which is used or unknown") }
        origins[connection] = nil
      case .wake: break
      case .drained:
        if isDrained || !using.isEmpty { problems.append("drained too early, or twice") }
        isDrained = true
      }
    }
  }

  private mutating func check() {
    let limits = pool.limits
    if origins.count + attempts.count > limits.connections { problems.append("more than the total") }
    for origin in 0..<4 {
      let open = origins.count { $0.value == origin && !streaming.contains($0.key) }
      let connecting = attempts.count { $0 == origin }
      if open + connecting > limits.connectionsPerOrigin { problems.append("more than one origin's limit") }
      let waiters = waiting.count { wanted[$0] == origin }
      if waiters > 0, idle.contains(where: { origins[$0] == origin }) {
        problems.append("a waiter waits although a connection is idle")
      }
      let isBelowTotal = origins.count + attempts.count < limits.connections
      if waiters > connecting, open + connecting < limits.connectionsPerOrigin, isBelowTotal {
        problems.append("a waiter waits although the limits permit a connection")
      }
    }
    if idle.count != pool.counts.idle { problems.append("the idle count is wrong") }
    if waiting.count != pool.counts.waiting { problems.append("the waiting count is wrong") }
  }
}

@Suite("Interleavings of the pool")
struct PoolInterleavingTests {
  @Test(
    "After any steps the limits hold, every waiter ends once, and every connection has at most one user",
    arguments: 0..<200 as Range<UInt64>)
  func random(seed: UInt64) {
    var world = PoolWorld(seed: seed)
    for _ in 0..<300 { world.step() }
    world.finish()
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
    #expect(world.ended.count == world.wanted.count)
  }
}
