import ApusCore
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// A simulation around a pool that takes random steps and keeps its own records.
struct PoolWorld {
  typealias Pool = PoolState<Int, Int, Int>

  /// The simulation's record of an open connection.
  struct Line {
    let origin: Int
    let openedAt: Int
    var capacity: Int
    var users: Set<Int> = []
    var isSuspended = false
    var isRetired = false
    var isFree: Bool { !isSuspended && !isRetired && users.count < capacity }
    var isWithheld: Bool { isSuspended || isRetired }
  }

  static let origins = 0..<4
  /// Whether connections to all origins except origin 0 are shared.
  let isShared: Bool
  var pool: Pool
  var random: SeededGenerator
  var now = 0
  var nextID = 0
  /// The waiters by state. Each waiter waits, uses a line or has ended.
  var waiting: Set<Int> = []
  var ended: Set<Int> = []
  var lines: [Int: Line] = [:]
  /// The waiters that require a new connection.
  var choosy: Set<Int> = []
  var wanted: [Int: Int] = [:]
  var attempts: [Int] = []
  /// The last reported capacity of each origin's connections.
  var known: [Int: Int] = [:]
  /// The origins restricted to HTTP/1.1 as far as the pool must know, and the ends of the restrictions.
  var restricted: Set<Int> = []
  var restrictions: [Int: Int] = [:]
  var calm: [Int: Int] = [:]
  var wakeUps: [MonotonicInstant] = []
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
    isShared = seed % 2 == 1
    pool = isShared ? Pool(limits: limits) { [1, .max, .max, 3][$0] } : Pool(limits: limits)
  }

  private var instant: MonotonicInstant { at(now) }
  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  private mutating func oneOf<Element>(_ elements: some Collection<Element>) -> Element? {
    elements.randomElement(using: &random)
  }

  private mutating func lineID(where condition: (Line) -> Bool = { _ in true }) -> Int? {
    oneOf(lines.filter { condition($0.value) }.keys.sorted())
  }

  mutating func step() {
    now += Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<(isShared ? 24 : 14), using: &random) {
    case 0..<4, 14..<18: acquire()
    case 4, 5: endAttempt()
    case 6..<9, 18: if let line = lineID(where: { !$0.users.isEmpty }) { release(line) }
    case 9: if let line = lineID() { lose(line) }
    case 10: cancel()
    case 11: if let line = lineID(where: { !$0.users.isEmpty && !$0.isSuspended }) { suspend(line) }
    case 12:
      let unwanted = attempts.indices.filter { pool.hasUnneededAttempts(to: attempts[$0]) }
      guard let index = oneOf(unwanted) else { return }
      perform(pool.connectGivenUp(for: attempts.remove(at: index)))
    case 13: tick()
    case 19, 20: changeCapacity()
    case 21: if let line = lineID(where: \.isSuspended) { resume(line) }
    case 22: pause()
    default: restrict()
    }
    check()
  }

  /// Shuts down and runs until everything has ended.
  mutating func finish() {
    perform(pool.shutDown())
    while !attempts.isEmpty { endAttempt() }
    while let line = lineID(where: { !$0.users.isEmpty }) { release(line) }
    if !isDrained { problems.append("was not drained") }
    if !lines.isEmpty || !waiting.isEmpty { problems.append("left something behind") }
    if !pool.isEmpty { problems.append("remembers something") }
  }
}

// MARK: - Steps

extension PoolWorld {
  private mutating func acquire() {
    guard let origin = oneOf(Self.origins) else { return }
    nextID += 1
    waiting.insert(nextID)
    wanted[nextID] = origin
    if !pool.knows(origin: origin) { updateRestriction(of: origin) }
    if isShared, Int.random(in: 0..<6, using: &random) == 0 {
      choosy.insert(nextID)
      perform(pool.acquireNew(nextID, for: origin, now: instant), needBy: origin)
    } else {
      retireAged(of: origin)
      perform(pool.acquire(nextID, for: origin, now: instant))
    }
  }

  private mutating func cancel() {
    guard let waiter = oneOf(waiting.sorted()) else { return }
    waiting.remove(waiter)
    ended.insert(waiter)
    perform(pool.cancelled(waiter))
  }

  private mutating func endAttempt() {
    guard let index = attempts.indices.randomElement(using: &random) else { return }
    let origin = attempts.remove(at: index)
    guard Int.random(in: 0..<4, using: &random) > 0 else {
      return perform(pool.connectFailed(for: origin, now: instant))
    }
    nextID += 1
    let isRestricted = (restrictions[origin] ?? 0) > now
    let capacity = isShared && origin > 0 && !isRestricted ? Int.random(in: 0...5, using: &random) : 1
    updateRestriction(of: origin)
    if capacity > 0 { known[origin] = capacity }
    lines[nextID] = Line(origin: origin, openedAt: now, capacity: capacity)
    perform(pool.connected(nextID, for: origin, capacity: capacity, now: instant))
  }

  private mutating func release(_ id: Int) {
    guard let waiter = oneOf((lines[id]?.users ?? []).sorted()) else { return }
    lines[id]?.users.remove(waiter)
    ended.insert(waiter)
    let canReuse = Int.random(in: 0..<4, using: &random) > 0
    let isSuspended = isShared && Int.random(in: 0..<6, using: &random) == 0
    lines[id]?.isSuspended = isSuspended
    if !canReuse || isAged(id) || hasTooMany(besides: id) { lines[id]?.isRetired = true }
    let starving = lines[id]?.users.isEmpty == true ? starvingWaiter : nil
    perform(pool.released(id, canReuse: canReuse, isSuspended: isSuspended, now: instant))
    checkFairness(of: id, to: starving)
  }

  private mutating func lose(_ id: Int) {
    ended.formUnion(lines.removeValue(forKey: id)?.users ?? [])
    perform(pool.closed(id, now: instant))
  }

  private mutating func suspend(_ id: Int) {
    lines[id]?.isSuspended = true
    perform(pool.suspended(id))
  }

  private mutating func resume(_ id: Int) {
    lines[id]?.isSuspended = false
    if hasTooMany(besides: id) { lines[id]?.isRetired = true }
    perform(pool.resumed(id))
  }

  private mutating func changeCapacity() {
    guard let id = lineID(where: { $0.origin > 0 }), let origin = lines[id]?.origin else { return }
    let capacity = Int.random(in: 0...5, using: &random)
    lines[id]?.capacity = capacity
    if capacity > 0 { known[origin] = capacity }
    perform(pool.capacityChanged(id, to: capacity))
  }

  private mutating func pause() {
    guard let origin = oneOf(Self.origins) else { return }
    let end = now + Int.random(in: 1...5, using: &random)
    calm[origin] = max(calm[origin] ?? 0, end)
    perform(pool.calm(origin, until: at(end)))
  }

  private mutating func restrict() {
    guard let origin = oneOf(Self.origins) else { return }
    let end = now + Int.random(in: 1...30, using: &random)
    restrictions[origin] = max(restrictions[origin] ?? 0, end)
    restricted.insert(origin)
    for (id, line) in lines where line.origin == origin && id.isMultiple(of: 2) { lines[id]?.isRetired = true }
    perform(pool.restrictToHTTP1(origin, until: at(end)) { $0.isMultiple(of: 2) })
  }

  private mutating func tick() {
    if let first = wakeUps.min(), let index = wakeUps.firstIndex(of: first) { wakeUps.remove(at: index) }
    calm = calm.filter { $0.value > now }
    perform(pool.tick(now: instant))
  }

  private mutating func updateRestriction(of origin: Int) {
    if let end = restrictions[origin], end > now { restricted.insert(origin) } else { restricted.remove(origin) }
  }

  /// The pool retires aged lines that it meets in its search for a free line. The simulation does not know the order of
  /// the search, so the free aged lines are those that are retired at the latest when the search finds nothing.
  private mutating func retireAged(of origin: Int) {
    let free = lines.filter { $0.value.origin == origin && $0.value.isFree }.keys
    guard free.allSatisfy({ isAged($0) }) else { return }
    for id in free { lines[id]?.isRetired = true }
  }

  private func isAged(_ id: Int) -> Bool {
    guard let line = lines[id], let age = pool.limits.maximumAge else { return false }
    return .seconds(now - line.openedAt) >= age
  }

  /// Whether the origin of a line has too many other connections for the line to count toward its limit.
  private func hasTooMany(besides id: Int) -> Bool {
    guard let line = lines[id], !line.isWithheld else { return false }
    return counted(line.origin) > pool.limits.connectionsPerOrigin
  }

  /// The number of connections, including attempts, that count toward the limit of an origin.
  private func counted(_ origin: Int) -> Int {
    lines.values.count { $0.origin == origin && !$0.isWithheld } + attempts.count { $0 == origin }
  }

  /// The first waiter of an origin that has no connection and no connection attempt, and may have one.
  private var starvingWaiter: Int? {
    waiting.filter { waiter in
      guard let origin = wanted[waiter], calm[origin] == nil else { return false }
      return !lines.values.contains { $0.origin == origin } && !attempts.contains(origin)
    }.min()
  }
}

// MARK: - Checks

extension PoolWorld {
  /// Performs the actions of an event.
  ///
  /// - Parameter choosyOrigin: an origin to which one more connection than needed may be made.
  private mutating func perform(_ actions: [Pool.Action], needBy choosyOrigin: Int? = nil) {
    for action in actions {
      switch action {
      case .use(let id, let waiter): use(id, by: waiter)
      case .connect(let origin): connect(origin, isChoosy: origin == choosyOrigin)
      case .refuse(let waiter, _):
        if waiting.remove(waiter) == nil { problems.append("\(waiter) is refused, who does not wait") }
        ended.insert(waiter)
      case .close(let id):
        if lines[id]?.users.isEmpty != true { problems.append("closes \(id), which is used or unknown") }
        lines[id] = nil
      case .wake(let instant):
        if let earliest = wakeUps.min(), earliest <= instant { problems.append("a needless wake-up") }
        wakeUps.append(instant)
      case .drained:
        if isDrained || lines.values.contains(where: { !$0.users.isEmpty }) {
          problems.append("drained too early, or twice")
        }
        isDrained = true
      }
    }
  }

  private mutating func use(_ id: Int, by waiter: Int) {
    if waiting.remove(waiter) == nil { problems.append("a connection for \(waiter), who does not wait") }
    if lines[id]?.isFree != true { problems.append("connection \(id) is not free") }
    if lines[id]?.origin != wanted[waiter] { problems.append("a connection to another origin") }
    lines[id]?.users.insert(waiter)
  }

  private mutating func connect(_ origin: Int, isChoosy: Bool) {
    if calm[origin] != nil { problems.append("a connection to an origin that must be left alone") }
    let isSurplus = attempts.count { $0 == origin } > 0 && isChoosy
    if unserved(origin, by: isSurplus ? 1 : 0) <= 0 { problems.append("a connection that no waiter needs") }
    attempts.append(origin)
  }

  /// Returns the number of waiters of an origin for which no connection is being made, without a number of the attempts
  /// under way.
  private func unserved(_ origin: Int, by ignored: Int = 0) -> Int {
    let assumed = isShared ? [1, .max, .max, 3][origin] : 1
    let expected = restricted.contains(origin) ? 1 : known[origin] ?? assumed
    let (room, isBeyond) = (attempts.count { $0 == origin } - ignored).multipliedReportingOverflow(by: expected)
    return isBeyond ? 0 : waiting.count { wanted[$0] == origin } - room
  }

  /// Checks that a connection is not passed to a waiter that arrived later than `starving`, a waiter of an origin
  /// without connections.
  private mutating func checkFairness(of id: Int, to starving: Int?) {
    guard let starving, let next = lines[id]?.users.min(), next > starving else { return }
    problems.append("\(next) was served before \(starving), whose origin has nothing")
  }

  private mutating func check() {
    let limits = pool.limits
    let total = lines.count + attempts.count
    if total > limits.connections { problems.append("more than the total") }
    for origin in Self.origins {
      // The pool may have retired aged lines.
      let certain = lines.count { $0.value.origin == origin && !$0.value.isWithheld && !isAged($0.key) }
      if certain + attempts.count(where: { $0 == origin }) > limits.connectionsPerOrigin {
        problems.append("more than one origin's limit")
      }
      let waits = waiting.contains { wanted[$0] == origin && !choosy.contains($0) }
      if waits, lines.contains(where: { $0.value.origin == origin && $0.value.isFree && !isAged($0.key) }) {
        problems.append("a waiter waits although a connection is free")
      }
      let canClose = lines.values.contains { $0.users.isEmpty && ($0.origin != origin || $0.capacity > 0) }
      if unserved(origin) > 0, counted(origin) < limits.connectionsPerOrigin, calm[origin] == nil,
        total < limits.connections || canClose
      {
        problems.append("a waiter waits although the limits permit a connection")
      }
    }
    checkCounts()
  }

  private mutating func checkCounts() {
    let counts = pool.counts
    if counts.idle != lines.values.count(where: \.users.isEmpty) { problems.append("the idle count is wrong") }
    if counts.active + counts.idle != lines.count { problems.append("the count of connections is wrong") }
    if counts.waiting != waiting.count { problems.append("the waiting count is wrong") }
    if counts.connecting != attempts.count { problems.append("the count of attempts is wrong") }
    let first = wakeUps.min()
    if let end = calm.values.min(), first.map({ $0 > at(end) }) ?? true { problems.append("no wake-up ends the pause") }
    if counts.idle > 0, first == nil { problems.append("no wake-up closes idle connections") }
  }
}

@Suite("Interleavings of the pool")
struct PoolInterleavingTests {
  @Test(
    "After any steps the limits hold, every waiter ends once, and no connection is made that no waiter needs",
    arguments: 0..<300 as Range<UInt64>)
  func random(seed: UInt64) {
    var world = PoolWorld(seed: seed)
    for _ in 0..<300 { world.step() }
    world.finish()
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
    #expect(world.ended.count == world.wanted.count)
  }
}
