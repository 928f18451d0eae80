import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Circuit breaker: times that make no sense")
struct BreakerTimesTests {
  private static let failure = BreakerState.Outcome.failed(isGateway: true)
  private static let start = MonotonicInstant(sinceStart: .zero)

  /// A call that ends at once, at the clock's start.
  private func call(
    _ state: inout BreakerState, _ outcome: BreakerState.Outcome = failure, jitter: Double = 0
  ) -> BreakerState.Change? {
    guard case .pass(let permit) = state.admit(at: Self.start) else {
      Issue.record("refused")
      return nil
    }
    return state.end(permit, outcome, now: Self.start, jitter: jitter)
  }

  /// A circuit that the next failure opens.
  private func failing(_ change: (inout BreakerPolicy) -> Void) -> BreakerState {
    var policy = BreakerPolicy.interactive
    change(&policy)
    var state = BreakerState(policy)
    for _ in 0..<4 {
      let change = call(&state)
      #expect(change == nil)
    }
    return state
  }

  @Test("times that mean for ever do no harm", arguments: [0.0, 1])
  func endless(jitter: Double) {
    var state = failing { ($0.firstOpening, $0.longestOpening) = (.seconds(Int64.max), .seconds(Int64.max)) }
    guard case .opened(let time)? = call(&state, jitter: jitter) else {
      Issue.record("not opened")
      return
    }
    #expect(time.milliseconds > 1_000_000_000_000)
    #expect(!state.isIdle(at: MonotonicInstant(sinceStart: .seconds(1_000_000))))
  }

  @Test("times that are less than none are none")
  func negative() {
    var state = failing { $0.firstOpening = .seconds(Int64.min) }
    // Each opening would be twice as long as the last.
    for _ in 0..<25 {
      let change = call(&state)
      #expect(change == .opened(for: .zero))
    }
    state = failing { $0.longestOpening = .seconds(Int64.min) }
    let asked = BreakerState.Outcome.failed(isGateway: true, retryAfter: .seconds(7))
    let change = call(&state, asked)
    #expect(change == .opened(for: .zero))
    #expect(state.isIdle(at: MonotonicInstant(sinceStart: .seconds(1))))
  }
}
