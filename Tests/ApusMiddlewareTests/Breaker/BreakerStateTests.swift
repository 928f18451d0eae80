import ApusCore
import Testing

@testable import ApusMiddleware

/// A ``BreakerState`` that receives calls from tables.
struct BreakerBench {
  static let gateway = BreakerOutcome.failed(.gateway, .status(503))
  static let status = BreakerOutcome.failed(.status, .status(500))
  static let reset = BreakerOutcome.failed(.reset, .failed(.connectionLost, .maybeSent))
  static let timeout = BreakerOutcome.failed(.timeout, .failed(.timeout, .maybeSent))
  static let unreachable = BreakerOutcome.unreachable(.failed(.connectionFailed, .notSent))

  var state = BreakerState(.app)

  static func part(_ name: String) -> BreakerPart { .endpoint(method: "GET", template: "/\(name)") }

  static func instant(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(sinceStart: .milliseconds(Int64((seconds * 1000).rounded())))
  }

  /// Admits a call that ends immediately. Returns the circuits that its end changes.
  @discardableResult
  mutating func call(
    _ part: BreakerPart = part("a"), _ outcome: BreakerOutcome = gateway, at seconds: Double = 0, jitter: Double = 0
  ) -> [BreakerState.Change] {
    guard let permit = permit(part, at: seconds) else {
      Issue.record("\(part) refused after \(seconds) s")
      return []
    }
    return state.end(permit, outcome, at: Self.instant(seconds), jitter: jitter)
  }

  /// Admits a call that remains in flight; returns `nil` if it is refused.
  mutating func permit(_ part: BreakerPart = part("a"), at seconds: Double) -> BreakerState.Permit? {
    guard case .pass(let permit, _) = state.admit(part, at: Self.instant(seconds)) else { return nil }
    return permit
  }

  /// Admits a call that remains in flight; throws if it is refused.
  mutating func pass(_ part: BreakerPart = part("a"), at seconds: Double) throws -> BreakerState.Permit {
    let permit = permit(part, at: seconds)
    return try #require(permit)
  }

  /// Returns the circuit that refuses a call, and the delay; `nil` if the call passes.
  mutating func refusal(_ part: BreakerPart = part("a"), at seconds: Double) -> BreakerState.Refusal? {
    guard case .refuse(let refusal) = state.admit(part, at: Self.instant(seconds)) else { return nil }
    return refusal
  }

  mutating func end(_ permit: BreakerState.Permit, _ outcome: BreakerOutcome, at seconds: Double)
    -> [BreakerState.Change]
  {
    state.end(permit, outcome, at: Self.instant(seconds), jitter: 0)
  }

  func status(_ name: String?) -> BreakerStatus { state.status(of: name.map { Self.part($0) }) }
}

@Suite("Circuit breaker: the circuit of an endpoint")
struct BreakerStateTests {
  typealias Bench = BreakerBench

  /// Calls to a closed circuit, one each second, and the call that opens the circuit.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let outcomes: [BreakerOutcome]
    /// The number of the call after which the circuit opens; `nil` if it stays closed.
    let opens: Int?

    var testDescription: String { name }
  }

  static let outcomes = [Bench.gateway, Bench.status, Bench.unreachable, .responded, .nothing]

  static let rows = [
    Row(name: "five gateway errors in a row", outcomes: [Bench.gateway].repeated(5), opens: 5),
    Row(
      name: "an answer in between begins the row anew",
      outcomes: [Bench.gateway].repeated(4) + [.responded] + [Bench.gateway].repeated(4), opens: nil),
    Row(
      name: "a failure of the server itself begins the row anew",
      outcomes: [Bench.gateway].repeated(4) + [Bench.status] + [Bench.gateway].repeated(4), opens: nil),
    Row(
      name: "a cancelled call does not",
      outcomes: [Bench.gateway].repeated(4) + [.nothing, Bench.gateway], opens: 6),
    Row(
      name: "an exchange that did not reach the server does not",
      outcomes: [Bench.gateway].repeated(4) + [Bench.unreachable, Bench.gateway], opens: 6),
    Row(name: "half of ten", outcomes: [BreakerOutcome.responded, Bench.status].repeated(5), opens: 10),
    Row(name: "half of ten timeouts", outcomes: [BreakerOutcome.responded, Bench.timeout].repeated(5), opens: 10),
    Row(name: "half of ten resets", outcomes: [BreakerOutcome.responded, Bench.reset].repeated(5), opens: 10),
    Row(
      name: "less than half of ten", outcomes: [Bench.status, BreakerOutcome.responded, .responded].repeated(5),
      opens: nil),
    Row(name: "all of nine are too few", outcomes: [Bench.status].repeated(9), opens: nil),
    Row(
      name: "what is older than the window does not count",
      outcomes: [Bench.status].repeated(9) + [BreakerOutcome.nothing].repeated(30) + [Bench.status], opens: nil),
    Row(
      name: "exchanges that did not reach the server are the origin's",
      outcomes: [BreakerOutcome.responded, Bench.unreachable].repeated(10), opens: nil),
  ]

  @Test(
    "A closed circuit opens after consecutive gateway errors or at a failure ratio", arguments: BreakerStateTests.rows)
  func triggers(row: Row) {
    var bench = Bench()
    var opened: Int?
    for (index, outcome) in row.outcomes.enumerated() where opened == nil {
      if !bench.call(outcome: outcome, at: Double(index)).isEmpty { opened = index + 1 }
    }
    #expect(opened == row.opens)
    #expect(bench.status(nil) == .closed)
  }

  @Test("The server preset opens at a tenth of at least a hundred exchanges")
  func server() {
    var bench = Bench(state: BreakerState(.server))
    var changes: [BreakerState.Change] = []
    for index in 0..<100 {
      changes += bench.call(outcome: index >= 90 ? Bench.status : .responded, at: Double(index) / 10)
    }
    #expect(changes == [.init(part: Bench.part("a"), status: .open(until: Bench.instant(9.9 + 5)))])
  }

  @Test("A circuit's open time doubles up to the limit, and shrinks again after healthy intervals")
  func openings() {
    var bench = Bench()
    var time = 0.0
    for _ in 0..<4 { bench.call(at: time) }
    for length in [5.0, 10, 20, 40, 50, 50] {
      bench.call(at: time)
      let refusal = bench.refusal(at: time + length - 0.001)
      #expect(refusal?.delay == .milliseconds(1))
      time += length
    }
    bench.call(outcome: .responded, at: time)
    #expect(bench.status("a") == .closed)
    // Of six openings, two are discarded after two windows.
    time += 60
    for _ in 0..<5 { bench.call(at: time) }
    #expect(bench.status("a") == .open(until: Bench.instant(time + 50)))
    bench.call(outcome: .responded, at: time + 50)
    time += 50 + 30 * 10
    #expect(bench.state.isIdle(at: Bench.instant(time)))
    for _ in 0..<5 { bench.call(at: time) }
    #expect(bench.status("a") == .open(until: Bench.instant(time + 5)))
  }

  @Test("Jitter spreads the trials of several clients, within the limit")
  func jitter() {
    var bench = Bench()
    for _ in 0..<4 { bench.call() }
    bench.call(jitter: 1)
    #expect(bench.status("a") == .open(until: Bench.instant(6)))
    var policy = BreakerPolicy.app
    policy.openDuration = .seconds(3600)
    bench = Bench(state: BreakerState(policy))
    for _ in 0..<4 { bench.call() }
    bench.call(jitter: 1)
    #expect(bench.status("a") == .open(until: Bench.instant(60)))
  }

  @Test(
    "A 503 with Retry-After sets the open time, between a second and the limit",
    arguments: [(7, 7), (0, 1), (3600, 60)])
  func retryAfter(asked: Int, length: Int) {
    var bench = Bench()
    for _ in 0..<4 { bench.call() }
    bench.call(outcome: .failed(.gateway, .status(503), retryAfter: .seconds(asked)))
    #expect(bench.refusal(at: 0)?.delay == .seconds(length))
  }

  @Test("A refusal names the failure that opened the circuit, also while the circuit is half-open")
  func cause() {
    var bench = opened()
    let refusal = BreakerState.Refusal(
      part: Bench.part("a"), delay: .seconds(5), cause: .status(503))
    let first = bench.refusal(at: 0)
    #expect(first == refusal)
    #expect(bench.permit(at: 5) != nil)
    #expect(bench.refusal(at: 5)?.cause == .status(503))
  }

  @Test("A half-open circuit passes one trial; a success closes the circuit, a failure opens it for longer")
  func trial() throws {
    var bench = opened()
    let trial = try bench.pass(at: 5)
    #expect(trial.isTrial && bench.status("a") == .halfOpen)
    let refusal = bench.refusal(at: 5)
    #expect(refusal?.part == Bench.part("a") && refusal?.delay == nil)
    var failed = bench
    _ = failed.end(trial, Bench.status, at: 6)
    #expect(failed.status("a") == .open(until: Bench.instant(16)))
    #expect(bench.end(trial, .responded, at: 6) == [.init(part: Bench.part("a"), status: .closed)])
    #expect(bench.end(trial, Bench.gateway, at: 6) == [])
  }

  @Test(
    "After a trial without evidence the next exchange is the trial",
    arguments: [BreakerOutcome.nothing, BreakerBench.unreachable])
  func abandoned(outcome: BreakerOutcome) throws {
    var bench = opened()
    let trial = try bench.pass(at: 5)
    #expect(bench.end(trial, outcome, at: 6) == [])
    let second = try bench.pass(at: 6)
    #expect(second.isTrial)
    #expect(bench.refusal(at: 65) != nil)
    // A trial that never ends is replaced by another trial.
    let third = try bench.pass(at: 66)
    #expect(third.isTrial)
    #expect(bench.end(second, .responded, at: 67) == [])
    #expect(bench.end(third, .responded, at: 67) == [.init(part: Bench.part("a"), status: .closed)])
  }

  @Test(
    "The outcome of an exchange that began in an earlier epoch has no effect", arguments: BreakerStateTests.outcomes)
  func late(outcome: BreakerOutcome) throws {
    var bench = Bench()
    let early = try bench.pass(at: 0)
    for _ in 0..<5 { bench.call() }
    #expect(bench.end(early, outcome, at: 1) == [])
    #expect(bench.status("a") == .open(until: Bench.instant(5)))
    _ = bench.permit(at: 5)
    #expect(bench.end(early, outcome, at: 6) == [])
    #expect(bench.status("a") == .halfOpen)
  }

  @Test("Resetting an origin closes all its circuits")
  func resetOrigin() {
    var bench = opened()
    bench.state.reset(nil, at: Bench.instant(1))
    #expect(bench.status("a") == .closed)
    #expect(bench.permit(Bench.part("a"), at: 1) != nil)
  }

  @Test("A circuit that was unused for long is idle in any status")
  func unused() throws {
    var bench = Bench()
    bench.call()
    #expect(!bench.state.isIdle(at: Bench.instant(1)))
    #expect(bench.state.isIdle(at: Bench.instant(40)))
    bench = opened()
    #expect(!bench.state.isIdle(at: Bench.instant(64)))
    #expect(bench.state.isIdle(at: Bench.instant(65)))
    let trial = try bench.pass(at: 5)
    #expect(!bench.state.isIdle(at: Bench.instant(124)))
    #expect(bench.state.isIdle(at: Bench.instant(125)))
    #expect(bench.end(trial, .nothing, at: 6) == [])
    #expect(!bench.state.isIdle(at: Bench.instant(124)))
    #expect(bench.state.isIdle(at: Bench.instant(125)))
  }

  @Test("At most 256 endpoints have a circuit; further endpoints use only the origin's circuit until a circuit is idle")
  func maximumParts() throws {
    var bench = Bench()
    for number in 0..<256 { bench.call(Bench.part("\(number)"), .responded) }
    for _ in 0..<5 { bench.call(Bench.part("more")) }
    #expect(bench.permit(Bench.part("more"), at: 0) != nil)
    #expect(bench.state.statuses.count == 257)
    // After another window these circuits are idle.
    for number in 0..<255 { bench.call(Bench.part("\(number)"), .responded, at: 20) }
    for _ in 0..<5 { bench.call(Bench.part("more"), at: 40) }
    #expect(bench.refusal(Bench.part("more"), at: 40)?.part == Bench.part("more"))
    #expect(bench.state.statuses.count == 257)
    #expect(!bench.state.statuses.contains { $0.part == Bench.part("255") })
  }

  private func opened() -> Bench {
    var bench = Bench()
    for _ in 0..<5 { bench.call() }
    #expect(bench.status("a") == .open(until: Bench.instant(5)))
    return bench
  }
}

extension BreakerBench {
  @discardableResult
  mutating func call(outcome: BreakerOutcome, at seconds: Double = 0) -> [BreakerState.Change] {
    call(Self.part("a"), outcome, at: seconds)
  }
}

extension Array {
  fileprivate func repeated(_ count: Int) -> [Element] {
    (0..<count).flatMap { _ in self }
  }
}
