import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Circuit breaker: the circuit of an origin")
struct BreakerOriginTests {
  typealias Bench = BreakerBench

  /// Calls of endpoints `a`, `b` and so on, one each second, and the call after which the origin's circuit opens.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    /// Two letters for each call: the endpoint and the outcome.
    let calls: [String]
    let opens: Int?

    var testDescription: String { name }

    init(_ name: String, _ calls: String, opens: Int?) {
      self.name = name
      self.calls = calls.split(separator: " ").map { String($0) }
      self.opens = opens
    }
  }

  private static let outcomes: [Character: BreakerOutcome] = [
    "u": Bench.unreachable, "g": Bench.gateway, "t": Bench.timeout, "s": Bench.status, "r": Bench.reset,
    "o": .responded,
    "n": .nothing,
    "h": .failed(.timeout, .failed(.timeout, .responded)),
  ]

  static let rows = [
    Row("five unreachable in a row, of one endpoint", "au au au au au", opens: 5),
    Row("an answer in between", "au au au au bo au au au au", opens: nil),
    Row("any response in between", "au au au au bs au au au au", opens: nil),
    Row("a gateway's response in between", "au au au au bg au au au au", opens: nil),
    Row("what breaks off before a response does not end the run", "au au au br au bt au", opens: 7),
    Row("what breaks off after the head does", "au au au au bh au", opens: nil),
    Row("a cancelled call does not end the run", "au au an au au au", opens: 6),
    Row("gateway errors of one endpoint, however many", "ag ag ag ag ag", opens: nil),
    Row("gateway errors of two endpoints", "ag bg ag bg ag bg", opens: nil),
    Row("gateway errors of three endpoints", "ag bg cg ag bg", opens: 5),
    Row("the third endpoint is late", "ag bg ag bg ag bg cg", opens: 7),
    Row("timeouts of three endpoints", "at bt ct at bt", opens: 5),
    Row("timeouts and gateway errors together", "at bg ct ag bt", opens: 5),
    Row("an answer in between them", "ag bg cg ag do ag bg cg ag", opens: nil),
    Row("failures of the application neither count nor end the run", "ag bg cs dr cg es ag", opens: nil),
    Row("five of them beside these", "ag bg cs dr cg es ag bg", opens: 8),
    Row("an unreachable exchange neither counts nor ends the run", "ag bu bg cg au ag bg", opens: 7),
  ]

  @Test(
    "The origin's circuit opens after consecutive failures of several endpoints, or if the server is unreachable",
    arguments: rows)
  func triggers(row: Row) throws {
    var bench = Bench()
    var opened: Int?
    for (index, call) in row.calls.enumerated() where opened == nil {
      let outcome = try #require(call.last.flatMap { Self.outcomes[$0] })
      let changes = bench.call(Bench.part(String(call.prefix(1))), outcome, at: Double(index))
      if changes.contains(where: { $0.part == nil }) { opened = index + 1 }
    }
    #expect(opened == row.opens)
  }

  @Test("A failing endpoint does not affect calls to other endpoints")
  func oneOfTen() {
    var bench = Bench()
    var refused = 0
    for second in 0..<600 {
      for name in "abcdefghij" {
        let part = Bench.part(String(name))
        guard let permit = bench.permit(part, at: Double(second)) else {
          refused += 1
          #expect(name == "a")
          continue
        }
        _ = bench.end(permit, name == "a" ? Bench.gateway : .responded, at: Double(second))
      }
    }
    #expect(refused > 500 && bench.status(nil) == .closed)
  }

  @Test("Messages without a path template have only the origin's circuit, for which each path is an endpoint")
  func withoutTemplate() {
    var bench = Bench()
    for _ in 0..<20 { bench.call(.other("/a")) }
    #expect(bench.state.statuses.count == 1)
    for path in ["/b", "/a"] { bench.call(.other(path)) }
    #expect(bench.status(nil) == .closed)
    bench.call(.other("/c"))
    #expect(bench.refusal(.other("/a"), at: 0)?.part == nil && bench.status(nil) != .closed)
  }

  @Test("An open origin circuit refuses all calls, and the first call afterwards is the trial")
  func anyTrial() throws {
    var bench = opened()
    let refusal = bench.refusal(Bench.part("new"), at: 1)
    #expect(refusal == .init(part: nil, delay: .seconds(4), cause: .status(503)))
    let trial = try bench.pass(Bench.part("new"), at: 5)
    #expect(trial.isTrial && bench.status(nil) == .halfOpen)
    #expect(bench.refusal(Bench.part("other"), at: 5)?.delay == nil)
    #expect(bench.permit(Bench.part("other"), at: 5) == nil)
    // The next calls are trials as well, one at a time; three consecutive successes close the circuit.
    #expect(bench.end(trial, .responded, at: 6) == [])
    let second = try bench.pass(Bench.part("other"), at: 6)
    #expect(second.isTrial && bench.permit(Bench.part("new"), at: 6) == nil)
    #expect(bench.end(second, .responded, at: 6) == [])
    let third = try bench.pass(Bench.part("new"), at: 6)
    #expect(third.isTrial)
    #expect(bench.end(third, .responded, at: 6) == [.init(part: nil, status: .closed)])
    #expect(bench.permit(Bench.part("other"), at: 6)?.isTrial == false)
  }

  /// The outcome of a trial, and the resulting status of the origin's circuit.
  static let trials: [(BreakerOutcome, BreakerStatus)] = [
    (.responded, .closed), (Bench.status, .closed), (.nothing, .halfOpen),
    (Bench.unreachable, .open(until: Bench.instant(16))), (Bench.gateway, .open(until: Bench.instant(16))),
    (Bench.timeout, .open(until: Bench.instant(16))), (Bench.reset, .open(until: Bench.instant(16))),
  ]

  @Test("The last trial of an origin closes the circuit if successful, or reopens it for longer", arguments: trials)
  func trial(outcome: BreakerOutcome, status: BreakerStatus) throws {
    var bench = opened()
    try answer(2, in: &bench, at: 5)
    let trial = try bench.pass(Bench.part("new"), at: 5)
    _ = bench.end(trial, outcome, at: 6)
    #expect(bench.status(nil) == status)
  }

  @Test("A failed trial resets the number of successful trials")
  func countedInARow() throws {
    var bench = opened()
    try answer(2, in: &bench, at: 5)
    bench.call(Bench.part("x"), Bench.gateway, at: 5)
    try answer(2, in: &bench, at: 15)
    #expect(bench.status(nil) == .halfOpen)
    try answer(1, in: &bench, at: 15)
    #expect(bench.status(nil) == .closed)
  }

  @Test("The circuit of a reachable origin opens for 5 seconds, later for 10 seconds; closing resets the open time")
  func briefOpenings() throws {
    var bench = opened()
    for (index, second) in [5.0, 15, 25, 35].enumerated() {
      bench.call(Bench.part("x\(index)"), Bench.timeout, at: second)
      #expect(bench.status(nil) == .open(until: Bench.instant(second + 10)))
    }
    try answer(3, in: &bench, at: 45)
    for name in ["k", "l", "m", "k", "l"] { bench.call(Bench.part(name), at: 46) }
    #expect(bench.status(nil) == .open(until: Bench.instant(51)))
  }

  @Test("The circuit of an unreachable origin opens for twice as long each time, and one success closes it")
  func unreachableOpenings() throws {
    var bench = Bench()
    for _ in 0..<5 { bench.call(Bench.part("a"), Bench.unreachable) }
    for (second, length) in [(5.0, 10.0), (15, 20), (35, 40)] {
      bench.call(Bench.part("a"), Bench.unreachable, at: second)
      #expect(bench.status(nil) == .open(until: Bench.instant(second + length)))
    }
    try answer(1, in: &bench, at: 75)
    #expect(bench.status(nil) == .closed)
  }

  @Test("When the origin's circuit closes, endpoint circuits that opened since its first failure become half-open")
  func dependents() throws {
    var bench = Bench()
    for _ in 0..<5 { bench.call(Bench.part("early"), at: 0) }
    bench.call(Bench.part("good"), .responded, at: 1)
    for _ in 0..<5 { bench.call(Bench.part("late"), at: 2) }
    for name in ["b", "c"] { bench.call(Bench.part(name), at: 2) }
    #expect(bench.status("early") == .open(until: Bench.instant(5)))
    #expect(bench.status("late") == .open(until: Bench.instant(7)))
    #expect(bench.status(nil) == .open(until: Bench.instant(7)))
    // The successful trial of another endpoint permits calls immediately.
    for _ in 0..<4 { _ = bench.state.admit(Bench.part("x"), at: Bench.instant(6)) }
    try answer(3, in: &bench, at: 7)
    #expect(bench.status("late") == .halfOpen)
    #expect(bench.status("early") == .open(until: Bench.instant(5)))
    let next = try bench.pass(Bench.part("late"), at: 7)
    #expect(next.isTrial)
    #expect(bench.permit(Bench.part("late"), at: 7) == nil)
  }

  @Test("An endpoint whose circuit opened with the origin's can be the origin's trial before its own open time ends")
  func dependentTrial() throws {
    var bench = Bench()
    // The second open time is ten seconds, the next would be twenty.
    for second in [0.0, 0, 0, 0, 0, 5] { bench.call(at: second) }
    bench.call(outcome: .responded, at: 15)
    for name in ["a", "a", "a", "a", "b", "a", "c"] { bench.call(Bench.part(name), at: 16) }
    #expect(bench.status("a") == .open(until: Bench.instant(36)))
    #expect(bench.status(nil) == .open(until: Bench.instant(21)))
    let trial = try bench.pass(at: 21)
    #expect(trial.isTrial)
    _ = bench.end(trial, .responded, at: 21)
    try answer(2, in: &bench, at: 21)
    #expect(bench.status("a") == .closed && bench.status(nil) == .closed)
  }

  @Test("Retry-After applies to the origin if its circuit opens")
  func retryAfter() {
    var bench = Bench()
    let asked = BreakerOutcome.failed(.gateway, .status(503), retryAfter: .seconds(40))
    for name in ["a", "b", "c", "a", "b"] { bench.call(Bench.part(name), name == "c" ? asked : Bench.gateway) }
    #expect(bench.status(nil) == .open(until: Bench.instant(40)))
  }

  @Test("Retry-After does not apply to the origin if only an endpoint's circuit opens")
  func retryAfterOfAnEndpoint() {
    var bench = Bench()
    let asked = BreakerOutcome.failed(.gateway, .status(503), retryAfter: .seconds(40))
    for _ in 0..<5 { bench.call(Bench.part("a"), asked) }
    #expect(bench.refusal(Bench.part("a"), at: 0)?.delay == .seconds(40))
    #expect(bench.permit(Bench.part("b"), at: 0) != nil)
    bench.call(Bench.part("b"), .responded)
    for name in ["b", "c", "d", "b", "c"] { bench.call(Bench.part(name), at: 1) }
    #expect(bench.status(nil) == .open(until: Bench.instant(6)))
  }

  @Test("A second failed trial of the same endpoint does not reopen the origin's circuit")
  func failingTrial() throws {
    var bench = opened()
    let first = try bench.pass(Bench.part("a"), at: 5)
    _ = bench.end(first, Bench.gateway, at: 5)
    #expect(bench.status(nil) == .open(until: Bench.instant(15)))
    let second = try bench.pass(Bench.part("a"), at: 15)
    #expect(bench.end(second, Bench.gateway, at: 15).allSatisfy { $0.part != nil })
    #expect(bench.status(nil) == .halfOpen)
    try answer(3, in: &bench, at: 15)
    #expect(bench.status(nil) == .closed)
  }

  @Test(
    "A response head ends the origin's runs of failures; the endpoint evaluates the exchange at the end of its content")
  func streamed() throws {
    var bench = Bench()
    for _ in 0..<4 { bench.call(Bench.part("a"), Bench.unreachable) }
    for name in ["a", "b", "c", "a"] { bench.call(Bench.part(name), Bench.timeout) }
    var stream = try bench.pass(Bench.part("s"), at: 1)
    bench.state.responded(&stream)
    for name in ["a", "b", "c", "a"] { bench.call(Bench.part(name), Bench.timeout, at: 2) }
    for _ in 0..<4 { bench.call(Bench.part("a"), Bench.unreachable, at: 2) }
    #expect(bench.status(nil) == .closed)
    // The origin's circuit recorded the success of the stream when the response head arrived, so the end of the stream
    // does not reset later failures.
    #expect(bench.end(stream, .responded, at: 3) == [])
    bench.call(Bench.part("a"), Bench.unreachable, at: 3)
    #expect(bench.status(nil) != .closed)
  }

  /// Performs a number of successful trials of an endpoint, one after the other.
  private func answer(_ count: Int, in bench: inout Bench, at second: Double) throws {
    for _ in 0..<count {
      let trial = try bench.pass(Bench.part("good"), at: second)
      #expect(trial.isTrial)
      _ = bench.end(trial, .responded, at: second)
    }
  }

  /// Returns a circuit opened by gateway errors of three endpoints, for five seconds.
  private func opened() -> Bench {
    var bench = Bench()
    for name in ["a", "b", "c", "a", "b"] { bench.call(Bench.part(name)) }
    #expect(bench.status(nil) == .open(until: Bench.instant(5)))
    return bench
  }
}
