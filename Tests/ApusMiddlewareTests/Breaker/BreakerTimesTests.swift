import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Circuit breaker: extreme times")
struct BreakerTimesTests {
  private static let failure = BreakerOutcome.failed(.gateway, .status(503))
  private static let part = BreakerPart.group("all")
  private static let start = MonotonicInstant(sinceStart: .zero)

  /// Performs a call that ends immediately, at the clock's start. Returns the time for which it opened the circuit.
  private func call(_ state: inout BreakerState, _ outcome: BreakerOutcome = failure, jitter: Double = 0) -> Duration? {
    guard case .pass(let permit, _) = state.admit(Self.part, at: Self.start) else {
      Issue.record("refused")
      return nil
    }
    guard case .open(let until)? = state.end(permit, outcome, at: Self.start, jitter: jitter).last?.status else {
      return nil
    }
    return Self.start.duration(to: until)
  }

  /// Returns a circuit that the next failure opens.
  private func failing(_ change: (inout BreakerPolicy) -> Void) -> BreakerState {
    var policy = BreakerPolicy.app
    change(&policy)
    var state = BreakerState(policy)
    for _ in 0..<4 {
      let change = call(&state)
      #expect(change == nil)
    }
    return state
  }

  @Test("Infinite times in a breaker policy cause no trap", arguments: [0.0, 1])
  func endless(jitter: Double) {
    var state = failing { ($0.openDuration, $0.maximumOpenDuration) = (.seconds(Int64.max), .seconds(Int64.max)) }
    guard let time = call(&state, jitter: jitter) else {
      Issue.record("not opened")
      return
    }
    #expect(time.milliseconds > 1_000_000_000_000)
    #expect(!state.isIdle(at: MonotonicInstant(sinceStart: .seconds(1_000_000))))
  }

  @Test("Negative times in a breaker policy are treated as zero")
  func negative() {
    var state = failing { $0.openDuration = .seconds(Int64.min) }
    // Without a limit, each open time would be twice the previous one.
    for _ in 0..<25 {
      let change = call(&state)
      #expect(change == .zero)
    }
    state = failing { $0.maximumOpenDuration = .seconds(Int64.min) }
    let asked = BreakerOutcome.failed(.gateway, .status(503), retryAfter: .seconds(7))
    let change = call(&state, asked)
    #expect(change == .zero)
    #expect(state.isIdle(at: MonotonicInstant(sinceStart: .seconds(30))))
  }
}
