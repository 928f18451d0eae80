import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

/// The rules once more, in the plainest way: everything that happened is kept, and looked through each time.
private struct Oracle {
  enum Phase: Equatable {
    case closed
    case open(until: Int)
    case halfOpen(since: Int?)
    case isolated
  }

  var phase = Phase.closed
  /// What ended since it closed last: when, and how.
  var ended: [(second: Int, outcome: BreakerState.Outcome)] = []
  var openings = 0
  var closedAt = 0
  /// The calls under way that count, by number.
  var counted: Set<Int> = []

  /// Whether a call passes.
  mutating func admit(_ number: Int, at second: Int) -> Bool {
    switch phase {
    case .closed: break
    case .open(let until):
      guard second >= until else { return false }
      (phase, counted) = (.halfOpen(since: second), [])
    case .halfOpen(let since):
      if let since, second < since + 60 { return false }
      (phase, counted) = (.halfOpen(since: second), [])
    case .isolated: return false
    }
    counted.insert(number)
    return true
  }

  mutating func end(_ number: Int, _ outcome: BreakerState.Outcome, at second: Int) {
    guard counted.remove(number) != nil else { return }
    if case .halfOpen = phase {
      switch outcome {
      case .answered: close(at: second)
      case .failed: open(at: second)
      case .nothing: phase = .halfOpen(since: nil)
      }
      return
    }
    guard outcome != .nothing else { return }
    ended.append((second, outcome))
    guard outcome != .answered else { return }
    let recent = ended.filter { $0.second / 3 > second / 3 - 10 }
    let failed = recent.count { $0.outcome != .answered }
    let row = ended.reversed().prefix { $0.outcome == .failed(isGateway: true) }.count
    if row >= 5 || (recent.count >= 10 && failed * 2 >= recent.count) { open(at: second) }
  }

  mutating func open(at second: Int) {
    if phase == .closed { openings = max(0, openings - (second - closedAt) / 30) }
    phase = .open(until: second + min(50, 5 << min(openings, 20)))
    openings += 1
    (ended, counted) = ([], [])
  }

  mutating func close(at second: Int) {
    phase = .closed
    closedAt = second
    (ended, counted) = ([], [])
  }
}

@Suite("Circuit breaker: beside a model")
struct BreakerModelTests {
  private static let outcomes: [BreakerState.Outcome] = [
    .answered, .answered, .failed(isGateway: true), .failed(isGateway: true), .failed(isGateway: false), .nothing,
  ]

  @Test("whatever happens in whatever order, it does what the model does", arguments: 0..<40 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = BreakerState(.interactive)
    var oracle = Oracle()
    var running: [(number: Int, permit: BreakerState.Permit)] = []
    var second = 0
    for number in 0..<600 {
      let now = MonotonicInstant(sinceStart: .seconds(second))
      switch random.next() % 20 {
      case 0..<8:
        let passes = oracle.admit(number, at: second)
        guard case .pass(let permit) = state.admit(at: now) else {
          #expect(!passes, "seed \(seed), step \(number)")
          continue
        }
        #expect(passes, "seed \(seed), step \(number)")
        running.append((number, permit))
      case 8..<16 where !running.isEmpty:
        let call = running.remove(at: Int(random.next() % UInt64(running.count)))
        let outcome = Self.outcomes[Int(random.next() % 6)]
        oracle.end(call.number, outcome, at: second)
        _ = state.end(call.permit, outcome, now: now, jitter: 0)
      case 18 where random.next() % 8 == 0:
        state.isolate()
        (oracle.phase, oracle.counted) = (.isolated, [])
      case 19 where state.status == .isolated:
        state.reset(at: now)
        oracle.close(at: second)
        oracle.openings = 0
      default: second += Int(random.next() % 4)
      }
      #expect(isSame(state.status, oracle.phase), "seed \(seed), step \(number)")
    }
  }

  private func isSame(_ status: BreakerStatus, _ phase: Oracle.Phase) -> Bool {
    switch (status, phase) {
    case (.closed, .closed), (.halfOpen, .halfOpen), (.isolated, .isolated): true
    case (.open(let instant), .open(let until)): instant == MonotonicInstant(sinceStart: .seconds(until))
    default: false
    }
  }
}
