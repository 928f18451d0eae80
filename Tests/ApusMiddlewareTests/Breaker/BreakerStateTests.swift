import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Circuit breaker: its state")
struct BreakerStateTests {
  typealias State = BreakerState

  static let gateway = State.Outcome.failed(isGateway: true)
  static let failure = State.Outcome.failed(isGateway: false)

  /// Lets a call through that ends at once; `nil`: it was refused.
  @discardableResult
  private func call(
    _ state: inout State, _ outcome: State.Outcome, at seconds: Double, jitter: Double = 0
  ) -> State.Change? {
    let now = instant(seconds)
    guard case .pass(let permit) = state.admit(at: now) else {
      Issue.record("refused after \(seconds) s")
      return nil
    }
    return state.end(permit, outcome, now: now, jitter: jitter)
  }

  private func instant(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(sinceStart: .milliseconds(Int64((seconds * 1000).rounded())))
  }

  /// A closed breaker and what opens it, call by call, one each second.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let outcomes: [BreakerState.Outcome]
    /// After which call it opens; `nil`: not at all.
    let opens: Int?

    var testDescription: String { name }
  }

  static let outcomes = [gateway, failure, .answered, .nothing]

  static let rows = [
    Row(name: "five gateway failures in a row", outcomes: [gateway].repeated(5), opens: 5),
    Row(
      name: "an answer in between begins the row anew",
      outcomes: [gateway, gateway, gateway, gateway, .answered, gateway, gateway, gateway, gateway], opens: nil),
    Row(
      name: "a failure of the server itself begins the row anew",
      outcomes: [gateway, gateway, gateway, gateway, failure, gateway, gateway, gateway, gateway], opens: nil),
    Row(
      name: "who was cancelled does not",
      outcomes: [gateway, gateway, gateway, gateway, .nothing, gateway], opens: 6),
    Row(name: "half of ten", outcomes: [State.Outcome.answered, failure].repeated(5), opens: 10),
    Row(name: "less than half of ten", outcomes: [failure, State.Outcome.answered, .answered].repeated(5), opens: nil),
    Row(name: "all of nine are too few", outcomes: [failure].repeated(9), opens: nil),
    Row(
      name: "what is older than the window does not count",
      outcomes: [failure].repeated(9) + [State.Outcome.nothing].repeated(30) + [failure], opens: nil),
  ]

  @Test("a closed circuit opens by one of two triggers", arguments: BreakerStateTests.rows)
  func triggers(row: Row) {
    var state = State(.interactive)
    var opened: Int?
    for (index, outcome) in row.outcomes.enumerated() where opened == nil {
      if call(&state, outcome, at: Double(index)) != nil { opened = index + 1 }
    }
    #expect(opened == row.opens)
  }

  @Test("the servers' preset opens at a tenth of at least a hundred")
  func server() {
    var state = State(.server)
    var changes: [State.Change] = []
    for index in 0..<100 {
      let outcome = index >= 90 ? Self.failure : .answered
      if let change = call(&state, outcome, at: Double(index) / 10) { changes.append(change) }
    }
    #expect(changes == [.opened(for: .seconds(5))])
  }

  @Test("it opens for longer each time, never beyond the limit, and for less again after it has been well for a while")
  func openings() {
    var state = State(.interactive)
    var time = 0.0
    for _ in 0..<4 { call(&state, Self.gateway, at: time) }
    for length in [5, 10, 20, 40, 50, 50] {
      let change1 = call(&state, Self.gateway, at: time)
      #expect(change1 == .opened(for: .seconds(length)))
      #expect(state.admit(at: instant(time + Double(length) - 0.001)) == .refuse(after: .milliseconds(1)))
      time += Double(length)
    }
    let change2 = call(&state, .answered, at: time)
    #expect(change2 == .closed)
    // Six openings, of which two are forgotten after two windows.
    time += 60
    for _ in 0..<4 { call(&state, Self.gateway, at: time) }
    let change3 = call(&state, Self.gateway, at: time)
    #expect(change3 == .opened(for: .seconds(50)))
    let change4 = call(&state, .answered, at: time + 50)
    #expect(change4 == .closed)
    time += 50 + 30 * 10
    #expect(state.isIdle(at: instant(time)))
    for _ in 0..<4 { call(&state, Self.gateway, at: time) }
    let change5 = call(&state, Self.gateway, at: time)
    #expect(change5 == .opened(for: .seconds(5)))
  }

  @Test("a random part keeps clients from coming back together, and stays within the limit")
  func jitter() {
    var state = State(.interactive)
    for _ in 0..<4 { call(&state, Self.gateway, at: 0) }
    let change6 = call(&state, Self.gateway, at: 0, jitter: 1)
    guard case .opened(let first)? = change6 else {
      Issue.record("not opened")
      return
    }
    #expect(first > .milliseconds(5999) && first < .milliseconds(6001))
    var policy = BreakerPolicy.interactive
    policy.firstOpening = .seconds(3600)
    state = State(policy)
    for _ in 0..<4 { call(&state, Self.gateway, at: 0) }
    guard case .opened(let time)? = call(&state, Self.gateway, at: 0, jitter: 1) else { return }
    #expect(time <= .seconds(60) && time > .seconds(59))
  }

  @Test(
    "a server that says how long sets the time, within a second and the limit",
    arguments: [(7, 7), (0, 1), (3600, 60)])
  func retryAfter(asked: Int, length: Int) {
    var state = State(.interactive)
    for _ in 0..<4 { call(&state, Self.gateway, at: 0) }
    let outcome = State.Outcome.failed(isGateway: true, retryAfter: .seconds(asked))
    let change7 = call(&state, outcome, at: 0)
    #expect(change7 == .opened(for: .seconds(length)))
    #expect(state.admit(at: instant(0)) == .refuse(after: .seconds(length)))
  }

  @Test("half-open lets one through; its answer closes, its failure opens for longer")
  func probing() throws {
    var state = opened()
    let probe = try permit(of: &state, at: 5)
    #expect(probe.isProbe && state.status == .halfOpen)
    #expect(state.admit(at: instant(5)) == .refuse(after: nil))
    var failed = state
    #expect(failed.end(probe, Self.failure, now: instant(6), jitter: 0) == .opened(for: .seconds(10)))
    #expect(state.end(probe, .answered, now: instant(6), jitter: 0) == .closed)
    #expect(state.status == .closed)
    #expect(state.end(probe, Self.gateway, now: instant(6), jitter: 0) == nil)
  }

  @Test("a probe that is cancelled gives its place to the next, and one that never ends loses it")
  func abandoned() throws {
    var state = opened()
    let probe = try permit(of: &state, at: 5)
    #expect(state.end(probe, .nothing, now: instant(6), jitter: 0) == nil)
    let second = try permit(of: &state, at: 6)
    #expect(second.isProbe)
    #expect(state.admit(at: instant(65)) == .refuse(after: nil))
    let third = try permit(of: &state, at: 66)
    #expect(third.isProbe)
    #expect(state.end(second, .answered, now: instant(67), jitter: 0) == nil)
    #expect(state.end(third, .answered, now: instant(67), jitter: 0) == .closed)
  }

  @Test("what becomes of calls that had begun before changes nothing", arguments: BreakerStateTests.outcomes)
  func late(outcome: State.Outcome) throws {
    var state = State(.interactive)
    let early = try permit(of: &state, at: 0)
    for _ in 0..<5 { call(&state, Self.gateway, at: 0) }
    let open = state
    #expect(state.end(early, outcome, now: instant(1), jitter: 0) == nil)
    #expect(state == open)
    _ = state.admit(at: instant(5))
    let halfOpen = state
    #expect(state.end(early, outcome, now: instant(6), jitter: 0) == nil)
    #expect(state == halfOpen)
  }

  @Test("isolated it refuses until it is reset, whatever ends meanwhile")
  func isolated() throws {
    var state = State(.interactive)
    let early = try permit(of: &state, at: 0)
    state.isolate()
    #expect(state.status == .isolated)
    #expect(state.admit(at: instant(1_000_000)) == .refuse(after: nil))
    #expect(state.end(early, .answered, now: instant(1), jitter: 0) == nil)
    #expect(!state.isIdle(at: instant(1_000_000)))
    state.reset(at: instant(2))
    #expect(state.status == .closed)
    #expect(state.isIdle(at: instant(2)))
  }

  @Test("one that nobody has used for long may be forgotten, whatever it was")
  func unused() throws {
    var state = State(.interactive)
    call(&state, Self.gateway, at: 0)
    #expect(!state.isIdle(at: instant(1)))
    #expect(state.isIdle(at: instant(40)))
    state = opened()
    #expect(!state.isIdle(at: instant(64)))
    #expect(state.isIdle(at: instant(65)))
    let probe = try permit(of: &state, at: 5)
    #expect(!state.isIdle(at: instant(124)))
    #expect(state.isIdle(at: instant(125)))
    // Nor does a probe that said nothing keep it for ever.
    #expect(state.end(probe, .nothing, now: instant(6), jitter: 0) == nil)
    #expect(!state.isIdle(at: instant(124)))
    #expect(state.isIdle(at: instant(125)))
  }

  private func opened() -> State {
    var state = State(.interactive)
    for _ in 0..<5 { call(&state, Self.gateway, at: 0) }
    #expect(state.status == .open(until: instant(5)))
    return state
  }

  private func permit(of state: inout State, at seconds: Double) throws -> State.Permit {
    let admission = state.admit(at: instant(seconds))
    guard case .pass(let permit) = admission else { throw Refused() }
    return permit
  }

  private struct Refused: Error {}
}

extension Array {
  fileprivate func repeated(_ count: Int) -> [Element] {
    (0..<count).flatMap { _ in self }
  }
}
