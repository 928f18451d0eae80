import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Refresh: its state")
struct RefreshStateTests {
  typealias State = RefreshState

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }
  private let now = MonotonicInstant(sinceStart: .zero)

  @Test(
    "Fresh credentials are used, ageing ones refreshed in the background, expired ones waited for",
    arguments: State.Freshness.allCases)
  func freshness(_ freshness: State.Freshness) {
    var state = State()
    let decision = state.needs(1, freshness, waiter: 7, now: now)
    let flight = State.Flight(number: 0, generation: 1)
    switch freshness {
    case .fresh: #expect(decision == .go)
    case .ageing: #expect(decision == .goWhile(flight))
    case .expired: #expect(decision == .waitFor(flight))
    }
    #expect(state.flights == (freshness == .fresh ? [] : [flight]))
    #expect(state.waiters == (freshness == .expired ? [7] : []))
  }

  @Test("Any number of rejections with one generation make one refresh, and all waiters are resumed together")
  func oneRefresh() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    #expect(state.rejected(1, current: 1, waiter: 0, now: now) == .waitFor(flight))
    for waiter in 1..<100 as Range<UInt64> {
      #expect(state.rejected(1, current: 1, waiter: waiter, now: now) == .wait)
    }
    let (waiters, outcome) = state.ended(flight, with: .replaced, now: now)
    #expect(waiters == Set(0..<100))
    #expect(outcome == .look)
    #expect(state.ended(flight, with: .replaced, now: now).0 == [])
  }

  @Test("A late rejection with an old generation only repeats the message, also during a refresh")
  func late() {
    var state = State()
    #expect(state.rejected(1, current: 2, waiter: 0, now: now) == .go)
    #expect(state.rejected(2, current: 2, waiter: 1, now: now) == .waitFor(.init(number: 0, generation: 2)))
    #expect(state.rejected(1, current: 2, waiter: 2, now: now) == .go)
    #expect(state.waiters == [1])
  }

  @Test("Messages wait for a refresh that is needed, not for one in the background")
  func holding() {
    var state = State()
    _ = state.needs(1, .ageing, waiter: 0, now: now)
    #expect(state.needs(1, .ageing, waiter: 1, now: now) == .go)
    #expect(state.needs(1, .fresh, waiter: 2, now: now) == .go)
    #expect(state.rejected(1, current: 1, waiter: 3, now: now) == .wait)
    #expect(state.needs(1, .fresh, waiter: 4, now: now) == .wait)
    // Also when the one that needed it has left.
    state.left(3)
    state.left(4)
    #expect(state.needs(1, .fresh, waiter: 5, now: now) == .wait)
    #expect(state.waiters == [5])
    // Other credentials are not held up.
    #expect(state.needs(2, .fresh, waiter: 6, now: now) == .go)
  }

  @Test("A waiter that leaves does not end the refresh")
  func leaving() {
    var state = State()
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    state.left(0)
    #expect(state.flights.count == 1)
    #expect(state.ended(.init(number: 0, generation: 1), with: .replaced, now: now).0 == [])
  }

  @Test("A permanent failure is not repeated; a temporary one after a second, then two, then four")
  func failing() {
    var state = State()
    var time = 0
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
      guard case .waitFor(let flight) = state.rejected(1, current: 1, waiter: 0, now: at(time)) else {
        Issue.record("no refresh after \(time) s")
        return
      }
      #expect(state.ended(flight, with: .failed(.passing), now: at(time)).1 == .failed(.passing))
      #expect(state.rejected(1, current: 1, waiter: 0, now: at(time)) == .rest(until: at(time + pause)))
      #expect(state.needs(1, .expired, waiter: 0, now: at(time + pause - 1)) == .rest(until: at(time + pause)))
      #expect(state.rest(of: 1, now: at(time)) == at(time + pause))
      // Still good: it is used, and not refreshed.
      #expect(state.needs(1, .ageing, waiter: 0, now: at(time + pause - 1)) == .go)
      time += pause
    }
    guard case .waitFor(let flight) = state.needs(1, .expired, waiter: 0, now: at(time)) else { return }
    _ = state.ended(flight, with: .failed(.lasting), now: at(time))
    #expect(state.rejected(1, current: 1, waiter: 0, now: at(1_000_000)) == .fail(.lasting))
    // Of other credentials this says nothing.
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(time)) == .waitFor(.init(number: 9, generation: 2)))
  }

  @Test("Freshly refreshed credentials that are rejected are not refreshed again at once")
  func loop() {
    var state = State()
    state.rejectedAfterRefresh(2, current: 2, now: at(0))
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(0)) == .fail(.passing))
    // However many are refused with them, it counts once.
    state.rejectedAfterRefresh(2, current: 2, now: at(0))
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(1)) == .waitFor(.init(number: 0, generation: 2)))
  }

  @Test("Late rejections of replaced credentials do not extend a cool-down", arguments: [0, 1, 3, 6])
  func lateRefusals(count: Int) {
    var state = State()
    for generation in (0..<count).map({ UInt64($0) }) {
      state.rejectedAfterRefresh(generation, current: 9, now: at(0))
      #expect(!state.awaitsAcceptance)
    }
    state.rejectedAfterRefresh(9, current: 9, now: at(0))
    for generation in (0..<count).map({ UInt64($0) }) { state.rejectedAfterRefresh(generation, current: 9, now: at(0)) }
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(0)) == .fail(.passing))
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(1)) == .waitFor(.init(number: 0, generation: 9)))
  }

  @Test("An accepted call resets the next cool-down, and does not end the present one")
  func accepted() {
    var state = State()
    for incident in 0..<8 {
      let (generation, time) = (UInt64(2 * incident + 1), 50 * incident)
      state.rejectedAfterRefresh(generation, current: generation, now: at(time))
      #expect(state.awaitsAcceptance)
      state.accepted(generation - 1)
      #expect(state.awaitsAcceptance, "what an older token is good for says nothing")
      state.accepted(generation)
      #expect(!state.awaitsAcceptance)
      #expect(state.rejected(generation, current: generation, waiter: 0, now: at(time)) == .fail(.passing))
      guard case .waitFor(let flight) = state.rejected(generation, current: generation, waiter: 0, now: at(time + 1))
      else {
        Issue.record("no refresh a second after incident \(incident)")
        return
      }
      _ = state.ended(flight, with: .replaced, now: at(time + 1))
    }
  }

  @Test("Failures of the token endpoint have their own backoff, which the first success resets")
  func outage() {
    var state = State()
    var time = 0
    for round in 0..<3 {
      for pause in [1, 2, 4] {
        guard case .waitFor(let flight) = state.needs(1, .expired, waiter: 0, now: at(time)) else {
          Issue.record("no refresh after \(time) s")
          return
        }
        _ = state.ended(flight, with: .failed(.passing), now: at(time))
        // Neither refusals nor acceptances of calls change it.
        state.rejectedAfterRefresh(1, current: 1, now: at(time))
        state.accepted(1)
        #expect(state.needs(1, .expired, waiter: 0, now: at(time)) == .rest(until: at(time + pause)), "\(round)")
        time += pause
      }
      guard case .waitFor(let flight) = state.needs(1, .expired, waiter: 0, now: at(time)) else { return }
      _ = state.ended(flight, with: .replaced, now: at(time))
    }
  }

  @Test("The cool-down of a server that rejects its own tokens grows, until it was healthy for a while")
  func stubborn() {
    var state = State()
    var time = 0
    for (generation, pause) in zip([2, 3, 4, 5] as [UInt64], [1, 2, 4, 8]) {
      state.rejectedAfterRefresh(generation, current: generation, now: at(time))
      #expect(state.rejected(generation, current: generation, waiter: 0, now: at(time + pause - 1)) == .fail(.passing))
      time += pause
      guard case .waitFor(let flight) = state.rejected(generation, current: generation, waiter: 0, now: at(time)) else {
        Issue.record("no refresh after \(time) s")
        return
      }
      _ = state.ended(flight, with: .replaced, now: at(time))
    }
    state.rejectedAfterRefresh(9, current: 9, now: at(time + 3600))
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(time + 3600)) == .fail(.passing))
    if case .fail = state.rejected(9, current: 9, waiter: 0, now: at(time + 3601)) { Issue.record("still waiting") }
  }

  @Test("An overdue refresh has no waiters, is not started again while it runs, and ends like any other")
  func overdue() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    #expect(state.overdue(flight) == [0])
    #expect(state.overdue(flight) == [])
    #expect(state.flights == [flight])
    #expect(state.rejected(1, current: 1, waiter: 1, now: now) == .fail(.passing))
    #expect(state.needs(1, .expired, waiter: 2, now: now) == .fail(.passing))
    #expect(state.needs(1, .ageing, waiter: 3, now: now) == .go)
    #expect(state.needs(1, .fresh, waiter: 4, now: now) == .go)
    #expect(state.ended(flight, with: .failed(.lasting), now: now).0 == [])
    #expect(state.rejected(1, current: 1, waiter: 5, now: now) == .fail(.lasting))
    #expect(state.overdue(flight) == [])
  }

  @Test("A sign-in or sign-out resumes all waiters, and the result of the refresh changes nothing")
  func replacing() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    #expect(state.replaced(by: 0) == [])
    #expect(state.replaced(by: 1) == [])
    #expect(state.replaced(by: 2) == [0])
    #expect(state.flights == [])
    let (waiters, outcome) = state.ended(flight, with: .failed(.lasting), now: now)
    #expect(waiters == [])
    #expect(outcome == .look)
    // Nor does it count against the same generation, should it come again.
    #expect(state.rejected(1, current: 1, waiter: 1, now: now) == .waitFor(.init(number: 1, generation: 1)))
  }

  @Test("An old refresh that still runs has its own waiters")
  func two() {
    var state = State()
    let (old, new) = (State.Flight(number: 0, generation: 1), State.Flight(number: 1, generation: 2))
    #expect(state.rejected(1, current: 1, waiter: 0, now: now) == .waitFor(old))
    #expect(state.rejected(2, current: 2, waiter: 1, now: now) == .waitFor(new))
    #expect(state.ended(old, with: .replaced, now: now).0 == [0])
    #expect(state.waiters == [1])
    #expect(state.ended(new, with: .replaced, now: now).0 == [1])
  }

  @Test("Calls that wait for the end of a cool-down read the credentials again when these are replaced")
  func resting() {
    var state = State()
    state.rests(1, for: 3)
    state.rests(2, for: 4)
    state.rests(3, for: 3)
    state.left(3)
    #expect(state.waiters == [1, 2])
    #expect(state.replaced(by: 3) == [])
    #expect(state.replaced(by: 4) == [1])
    #expect(state.replaced(by: 4) == [])
    #expect(state.replaced(by: 9) == [2])
    #expect(state.waiters.isEmpty)
  }
}
