import ApusCore

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// A simulated transport without sockets, clocks and threads: the real state machines of pool, exchanges and
/// connections, each connection with a loop whose jobs run at random times, and a peer that acts at random.
struct ExchangeWorld {
  typealias Pool = PoolState<Int, Int, Int>

  /// An exchange, and its history.
  struct Call {
    var state = ExchangeState<Int>()
    let origin: Int
    let isRepeatable: Bool
    let isStreamed: Bool
    /// Whether the request content is withheld until the server sends 100 (Continue).
    let isHeld: Bool
    /// Whether the whole request was sent on the current connection of the exchange.
    var isSent = false
    /// The connections to which the request was written, and whether each connection was reused.
    var writes: [(connection: Int, wasUsed: Bool)] = []
    var timesTold = 0
    var isBegun = false
  }

  struct Line {
    var state = ConnectionState<Int>()
    let origin: Int
    var jobs: [Job] = []
    var isOpen = true
    /// Whether the end of the connection was reported to the pool. The end must be reported once.
    var isForgotten = false
    /// Whether the peer has closed the connection, but the close was not handled yet.
    var isHalfClosed = false
    /// Whether the current response has a status of success.
    var isSuccess = false
    /// Whether the peer can still send.
    var isListening: Bool { isOpen && !isHalfClosed }
  }

  /// A job in the queue of a connection's loop.
  enum Job: Equatable {
    case start(Int)
    case abandon(Int)
    case closeIfIdle
    case end
    case resume(Int)
    case inputEnds
  }

  var pool: Pool
  var random: SeededGenerator
  var now = 0
  var nextID = 0
  var calls: [Int: Call] = [:]
  var lines: [Int: Line] = [:]
  var attempts: [Int] = []
  var isDrained = false
  /// The number of occurrences of each event, by name, to prove that the steps reach every event.
  var events: [String: Int] = [:]
  var problems: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    var limits = PoolLimits()
    limits.connectionsPerOrigin = Int.random(in: 1...3, using: &random)
    limits.connections = Int.random(in: 1...4, using: &random)
    limits.waiting = Int.random(in: 4...30, using: &random)
    limits.idleTimeout = .seconds(60)
    pool = Pool(limits: limits)
  }

  var instant: MonotonicInstant { MonotonicInstant(sinceStart: .seconds(now)) }

  mutating func newID() -> Int {
    nextID += 1
    return nextID
  }

  mutating func any<Value: Comparable>(_ values: some Sequence<Value>) -> Value? {
    values.sorted().randomElement(using: &random)
  }

  mutating func maybe() -> Bool { Bool.random(using: &random) }

  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  // MARK: Steps

  mutating func step() {
    now += Int.random(in: 0...2, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<2: beginCall()
    case 2: if oneIn(5), let id = any(calls.filter { $0.value.state.place != .over }.keys) { end(id, nil) }
    case 3: if oneIn(5), let id = any(calls.filter { $0.value.state.place == .queued }.keys) { waitedTooLong(id) }
    case 4, 5: endAttempt()
    case 6..<13: if let id = any(lines.filter { !$0.value.jobs.isEmpty }.keys) { runJob(on: id) }
    case 13, 14: if let id = any(lines.filter { $0.value.state.progress.isSending }.keys) { sendOn(id) }
    case 15..<18: if let id = any(lines.filter { $0.value.isListening }.keys) { answer(on: id) }
    case 18:
      // Most events occur in the most interesting state: a reused connection with a request and no response byte.
      let owing = lines.filter {
        $0.value.isListening && $0.value.state.hasServed && $0.value.state.progress.requestState == .maybeSent
      }
      if let id = any((owing.isEmpty || oneIn(4) ? lines.filter(\.value.isListening) : owing).keys) {
        closeByPeer(id)
      }
    default:
      if let id = any(lines.filter { $0.value.state.progress.isPaused }.keys) { requestMore(on: id) }
      perform(pool.tick(now: instant))
    }
    check()
  }

  /// Shuts down in the middle of all exchanges, and runs until they have ended.
  mutating func finish() {
    perform(pool.shutDown())
    while !attempts.isEmpty { endAttempt() }
    for id in pool.openConnections.sorted() { lines[id]?.jobs.append(.end) }
    while let id = any(lines.filter { !$0.value.jobs.isEmpty }.keys) {
      runJob(on: id)
      check()
    }
    // Bytes that arrived before a connection ended can still be read.
    for id in lines.filter({ $0.value.state.isCutShort }).keys.sorted() {
      requestMore(on: id)
      runJob(on: id)
    }
    if !isDrained { problems.append("was not drained") }
    if !pool.isEmpty { problems.append("the pool is not empty") }
    for (id, call) in calls where call.isBegun {
      if call.timesTold != 1 { problems.append("\(id) was told \(call.timesTold) times") }
      if call.state.place != .over { problems.append("\(id) is not over") }
    }
    for (id, line) in lines where line.isOpen || line.state.exchange != nil {
      problems.append("connection \(id) was left open, or in use")
    }
  }

  private mutating func beginCall() {
    let id = newID()
    calls[id] = Call(
      origin: Int.random(in: 0..<2, using: &random), isRepeatable: maybe(), isStreamed: maybe(), isHeld: oneIn(6))
    if Int.random(in: 0..<10, using: &random) == 0 { end(id, nil) }
    guard calls[id]?.state.begun() == true else { return }
    calls[id]?.isBegun = true
    acquire(id, isAdmitted: false)
  }

  private mutating func endAttempt() {
    guard let index = attempts.indices.randomElement(using: &random) else { return }
    let origin = attempts.remove(at: index)
    guard !oneIn(12) else {
      return perform(pool.connectFailed(for: origin, now: instant))
    }
    let id = newID()
    lines[id] = Line(origin: origin)
    perform(pool.connected(id, for: origin, capacity: 1, now: instant))
  }

  // MARK: Books

  mutating func tell(_ id: Int, _ state: RequestState?) {
    calls[id]?.timesTold += 1
    if let state { events["told \(state), written \(calls[id]?.writes.count ?? 0) times", default: 0] += 1 }
    guard state == .notSent, calls[id]?.writes.isEmpty == false else { return }
    problems.append("\(id) is told that it was not sent, but it was written")
  }

  private mutating func check() {
    let busy = lines.compactMap { $0.value.state.exchange }
    if Set(busy).count != busy.count { problems.append("an exchange is on two connections") }
    for (id, call) in calls {
      if call.timesTold > 1 { problems.append("\(id) was told twice") }
      if call.writes.count > 2 { problems.append("\(id) was written \(call.writes.count) times") }
      guard call.writes.count == 2 else { continue }
      if !call.isRepeatable { problems.append("\(id) was written twice and is not repeatable") }
      if !call.writes[0].wasUsed { problems.append("\(id) was written again after a connection that was new") }
      if call.writes[1].wasUsed { problems.append("\(id) was written again to a used connection") }
    }
    for (id, line) in lines where line.state.exchange == nil && line.isOpen && line.jobs.isEmpty && !line.isHalfClosed {
      let isKnown = pool.knows(id)
      if !isKnown { problems.append("connection \(id) is open, unused, and nobody knows it") }
    }
  }
}
