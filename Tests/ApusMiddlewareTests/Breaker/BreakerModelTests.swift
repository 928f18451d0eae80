import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

/// A second, simple implementation of the rules, which stores all events and evaluates them each time.
private struct Oracle {
  enum Phase: Equatable {
    case closed
    case open(until: Int)
    case halfOpen(since: Int?)
  }

  /// The end of an exchange: its outcome, instant and endpoint.
  struct Event {
    let second: Int
    let part: String
    let outcome: BreakerOutcome
  }

  struct Circuit {
    var phase = Phase.closed
    var openings = 0
    var closedAt = 0
    var openedAt = 0
    /// The numbers of the calls in flight whose outcomes the circuit evaluates.
    var counted: Set<Int> = []

    func passes(at second: Int) -> Bool {
      switch phase {
      case .closed: true
      case .open(let until): second >= until
      case .halfOpen(let since): since.map { second >= $0 + 60 } ?? true
      }
    }

    mutating func open(at second: Int, isBrief: Bool = false) {
      if isBrief {
        openings = phase == .closed ? 0 : 1
      } else if phase == .closed {
        openings = max(0, openings - (second - closedAt) / 30)
      }
      phase = .open(until: second + min(50, 5 << min(openings, 20)))
      (openedAt, openings, counted) = (second, openings + 1, [])
    }

    mutating func close(at second: Int) { (phase, closedAt, counted) = (.closed, second, []) }
  }

  var origin = Circuit()
  var own: [String: Circuit] = [:]
  /// The events since the origin's circuit last closed.
  var events: [Event] = []
  /// The events since each endpoint's circuit last closed.
  var ownEvents: [String: [Event]] = [:]
  var firstFailure = 0
  var lastTrial: String?
  var trialsToClose = 1

  mutating func admit(_ number: Int, _ part: String, at second: Int) -> Bool {
    guard origin.passes(at: second) else { return false }
    var circuit = own[part] ?? Circuit(closedAt: second)
    let isTrial = origin.phase != .closed
    var passes = circuit.passes(at: second)
    if case .open = circuit.phase, isTrial, circuit.openedAt >= firstFailure { passes = true }
    guard passes else { return false }
    if isTrial { (origin.phase, origin.counted) = (.halfOpen(since: second), []) }
    if circuit.phase != .closed { (circuit.phase, circuit.counted) = (.halfOpen(since: second), []) }
    origin.counted.insert(number)
    circuit.counted.insert(number)
    own[part] = circuit
    return true
  }

  mutating func end(_ number: Int, _ part: String, _ outcome: BreakerOutcome, at second: Int) {
    let event = Event(second: second, part: part, outcome: outcome)
    endOwn(number, event)
    guard origin.counted.remove(number) != nil else { return }
    if origin.phase == .closed { return count(event) }
    switch outcome {
    case .responded, .failed(.status, _, _):
      trialsToClose -= 1
      if trialsToClose == 0 { closeOrigin(except: part, at: second) } else { origin.phase = .halfOpen(since: nil) }
    case .nothing: origin.phase = .halfOpen(since: nil)
    case .failed where lastTrial == part: origin.phase = .halfOpen(since: nil)
    case .failed, .unreachable:
      if case .unreachable = outcome { lastTrial = nil } else { lastTrial = part }
      openOrigin(isReached: lastTrial != nil, at: second)
    }
  }

  private mutating func endOwn(_ number: Int, _ event: Event) {
    guard var circuit = own[event.part], circuit.counted.remove(number) != nil else { return }
    defer { own[event.part] = circuit }
    switch (circuit.phase, event.outcome) {
    case (.halfOpen, .responded): circuit.close(at: event.second)
    case (.halfOpen, .failed): circuit.open(at: event.second)
    case (.halfOpen, _): circuit.phase = .halfOpen(since: nil)
    case (_, .nothing), (_, .unreachable): break
    default:
      ownEvents[event.part, default: []].append(event)
      let all = ownEvents[event.part] ?? []
      guard event.outcome != .responded else { return }
      let recent = all.filter { $0.second / 3 > event.second / 3 - 10 }
      let failed = recent.count { $0.outcome != .responded }
      let row = all.reversed().prefix { $0.outcome == BreakerBench.gateway }.count
      guard row >= 5 || (recent.count >= 10 && failed * 2 >= recent.count) else { return }
      circuit.open(at: event.second)
      ownEvents[event.part] = []
    }
  }

  private mutating func count(_ event: Event) {
    events.append(event)
    let sinceResponse = events.reversed().prefix { !$0.outcome.hasResponse }
    let unreachable = sinceResponse.filter { $0.outcome == BreakerBench.unreachable }
    let failures = events.reversed().prefix { $0.outcome != .responded }.filter {
      $0.outcome == BreakerBench.gateway || $0.outcome == BreakerBench.timeout
    }
    let isMany = failures.count >= 5 && Set(failures.map(\.part)).count >= 3
    guard unreachable.count >= 5 || isMany, event.outcome != .nothing else { return }
    firstFailure = (unreachable.count >= 5 ? unreachable : failures).last?.second ?? 0
    lastTrial = nil
    openOrigin(isReached: unreachable.count < 5, at: event.second)
  }

  private mutating func openOrigin(isReached: Bool, at second: Int) {
    trialsToClose = isReached ? 3 : 1
    origin.open(at: second, isBrief: isReached)
    events = []
  }

  private mutating func closeOrigin(except part: String, at second: Int) {
    origin.close(at: second)
    events = []
    for (name, circuit) in own where name != part && circuit.openedAt >= firstFailure {
      guard case .open = circuit.phase else { continue }
      own[name]?.phase = .halfOpen(since: nil)
    }
  }
}

@Suite("Circuit breaker: comparison with a model")
struct BreakerModelTests {
  private static let outcomes: [BreakerOutcome] = [
    .responded, .responded, BreakerBench.gateway, BreakerBench.gateway, BreakerBench.timeout, BreakerBench.unreachable,
    BreakerBench.unreachable, BreakerBench.status, BreakerBench.reset, .nothing,
  ]

  @Test("In any order of events BreakerState agrees with a simple model", arguments: 0..<60 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bench = BreakerBench()
    var oracle = Oracle()
    var running: [(number: Int, part: String, permit: BreakerState.Permit)] = []
    var (second, opened) = (0, 0)
    // In some runs most calls have the same outcome.
    let usual = Self.outcomes[Int(random.next() % 10)]
    for number in 0..<1500 {
      switch random.next() % 20 {
      case 0..<8:
        let part = ["a", "b", "c", "d"][Int(random.next() % 4)]
        let passes = oracle.admit(number, part, at: second)
        let permit = bench.permit(BreakerBench.part(part), at: Double(second))
        #expect((permit != nil) == passes, "seed \(seed), step \(number)")
        if let permit { running.append((number, part, permit)) }
      case 8..<16 where !running.isEmpty:
        let call = running.remove(at: Int(random.next() % UInt64(running.count)))
        let outcome = random.next() % 2 == 0 ? usual : Self.outcomes[Int(random.next() % 10)]
        oracle.end(call.number, call.part, outcome, at: second)
        let changes = bench.end(call.permit, outcome, at: Double(second))
        if changes.contains(where: { $0.part == nil }) { opened += 1 }
      default: second += Int(random.next() % 4)
      }
      #expect(isSame(bench.status(nil), oracle.origin.phase), "seed \(seed), step \(number)")
      for name in ["a", "b", "c", "d"] {
        let phase = oracle.own[name]?.phase ?? .closed
        #expect(isSame(bench.status(name), phase), "seed \(seed), step \(number), \(name)")
      }
    }
    #expect(opened > 0 || usual == .responded || usual == .nothing || usual.isQuiet, "seed \(seed)")
  }

  private func isSame(_ status: BreakerStatus, _ phase: Oracle.Phase) -> Bool {
    switch (status, phase) {
    case (.closed, .closed), (.halfOpen, .halfOpen): true
    case (.open(let instant), .open(let until)): instant == BreakerBench.instant(Double(until))
    default: false
    }
  }
}

extension BreakerOutcome {
  /// Whether the outcome, however frequent, opens no origin's circuit.
  fileprivate var isQuiet: Bool { self == BreakerBench.status || self == BreakerBench.reset }
}
