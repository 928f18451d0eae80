import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Refresh state")
struct RefreshStateTests {
  typealias State = RefreshState

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }
  private let now = MonotonicInstant(sinceStart: .zero)

  @Test(
    "Fresh credentials are sent, ageing credentials refreshed in the background, expired credentials awaited",
    arguments: State.Freshness.allCases)
  func freshness(_ freshness: State.Freshness) {
    var state = State()
    let decision = state.prepare(1, freshness, waiter: 7, now: now)
    let flight = State.Flight(number: 0, generation: 1)
    switch freshness {
    case .fresh: #expect(decision == .send)
    case .ageing: #expect(decision == .sendAndRefresh(flight))
    case .expired: #expect(decision == .startRefresh(flight))
    }
    #expect(state.flights == (freshness == .fresh ? [] : [flight]))
    #expect(state.waiters == (freshness == .expired ? [7] : []))
  }

  @Test("Any number of rejections with one generation make one refresh, and all waiters are resumed together")
  func oneRefresh() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    #expect(state.rejected(1, current: 1, waiter: 0, now: now) == .startRefresh(flight))
    for waiter in 1..<100 as Range<UInt64> {
      #expect(state.rejected(1, current: 1, waiter: waiter, now: now) == .wait)
    }
    #expect(state.succeeded(flight) == Set(0..<100))
    #expect(state.succeeded(flight) == [])
  }

  @Test("After a late rejection with an old generation the message is only resent, also during a refresh")
  func late() {
    var state = State()
    #expect(state.rejected(1, current: 2, waiter: 0, now: now) == .send)
    #expect(state.rejected(2, current: 2, waiter: 1, now: now) == .startRefresh(.init(number: 0, generation: 2)))
    #expect(state.rejected(1, current: 2, waiter: 2, now: now) == .send)
    #expect(state.waiters == [1])
  }

  @Test("Messages wait for a refresh that is needed, not for a refresh in the background")
  func background() {
    var state = State()
    _ = state.prepare(1, .ageing, waiter: 0, now: now)
    #expect(state.prepare(1, .ageing, waiter: 1, now: now) == .send)
    #expect(state.prepare(1, .fresh, waiter: 2, now: now) == .send)
    #expect(state.rejected(1, current: 1, waiter: 3, now: now) == .wait)
    #expect(state.prepare(1, .fresh, waiter: 4, now: now) == .wait)
    // The refresh is still needed after its waiters have left.
    state.left(3)
    state.left(4)
    #expect(state.prepare(1, .fresh, waiter: 5, now: now) == .wait)
    #expect(state.waiters == [5])
    // Messages with other credentials do not wait.
    #expect(state.prepare(2, .fresh, waiter: 6, now: now) == .send)
  }

  @Test("A waiter that leaves does not end the refresh")
  func leaving() {
    var state = State()
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    state.left(0)
    #expect(state.flights.count == 1)
    #expect(state.succeeded(.init(number: 0, generation: 1)) == [])
  }

  @Test("A permanently failed refresh is not repeated; a temporarily failed refresh is repeated after 1 s, 2 s and 4 s")
  func failing() {
    var state = State()
    var time = 0
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
      guard case .startRefresh(let flight) = state.rejected(1, current: 1, waiter: 0, now: at(time)) else {
        Issue.record("no refresh after \(time) s")
        return
      }
      #expect(state.failed(flight, .temporary, now: at(time)) == [0])
      #expect(state.rejected(1, current: 1, waiter: 0, now: at(time)) == .waitForCoolDown(until: at(time + pause)))
      #expect(
        state.prepare(1, .expired, waiter: 0, now: at(time + pause - 1)) == .waitForCoolDown(until: at(time + pause)))
      #expect(state.coolDownEnd(of: 1, now: at(time)) == at(time + pause))
      // Ageing credentials are still sent, and not refreshed.
      #expect(state.prepare(1, .ageing, waiter: 0, now: at(time + pause - 1)) == .send)
      time += pause
    }
    guard case .startRefresh(let flight) = state.prepare(1, .expired, waiter: 0, now: at(time)) else { return }
    _ = state.failed(flight, .permanent, now: at(time))
    #expect(state.rejected(1, current: 1, waiter: 0, now: at(1_000_000)) == .fail(.permanent))
    // Other credentials can be refreshed.
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(time)) == .startRefresh(.init(number: 9, generation: 2)))
  }

  @Test("Freshly refreshed credentials that are rejected are refreshed again only after a cool-down")
  func loop() {
    var state = State()
    state.rejectedAfterRefresh(2, current: 2, now: at(0))
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(0)) == .fail(.temporary))
    // A second rejection of the same credentials does not extend the cool-down.
    state.rejectedAfterRefresh(2, current: 2, now: at(0))
    #expect(state.rejected(2, current: 2, waiter: 0, now: at(1)) == .startRefresh(.init(number: 0, generation: 2)))
  }

  @Test("Late rejections of replaced credentials do not extend a cool-down", arguments: [0, 1, 3, 6])
  func lateRejections(count: Int) {
    var state = State()
    for generation in (0..<count).map({ UInt64($0) }) {
      state.rejectedAfterRefresh(generation, current: 9, now: at(0))
      #expect(!state.awaitsAcceptance)
    }
    state.rejectedAfterRefresh(9, current: 9, now: at(0))
    for generation in (0..<count).map({ UInt64($0) }) { state.rejectedAfterRefresh(generation, current: 9, now: at(0)) }
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(0)) == .fail(.temporary))
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(1)) == .startRefresh(.init(number: 0, generation: 9)))
  }

  @Test("An accepted call resets the next cool-down, and does not end the present cool-down")
  func accepted() {
    var state = State()
    for incident in 0..<8 {
      let (generation, time) = (UInt64(2 * incident + 1), 50 * incident)
      state.rejectedAfterRefresh(generation, current: generation, now: at(time))
      #expect(state.awaitsAcceptance)
      state.accepted(generation - 1)
      #expect(state.awaitsAcceptance, "the acceptance of an older token does not count")
      state.accepted(generation)
      #expect(!state.awaitsAcceptance)
      #expect(state.rejected(generation, current: generation, waiter: 0, now: at(time)) == .fail(.temporary))
      guard
        case .startRefresh(let flight) = state.rejected(generation, current: generation, waiter: 0, now: at(time + 1))
      else {
        Issue.record("no refresh a second after incident \(incident)")
        return
      }
      _ = state.succeeded(flight)
    }
  }

  @Test("Failures of the token endpoint have their own backoff, which the first success resets")
  func tokenEndpoint() {
    var state = State()
    var time = 0
    for round in 0..<3 {
      for pause in [1, 2, 4] {
        guard case .startRefresh(let flight) = state.prepare(1, .expired, waiter: 0, now: at(time)) else {
          Issue.record("no refresh after \(time) s")
          return
        }
        _ = state.failed(flight, .temporary, now: at(time))
        // Rejections and acceptances of calls do not change the backoff.
        state.rejectedAfterRefresh(1, current: 1, now: at(time))
        state.accepted(1)
        #expect(
          state.prepare(1, .expired, waiter: 0, now: at(time)) == .waitForCoolDown(until: at(time + pause)), "\(round)")
        time += pause
      }
      guard case .startRefresh(let flight) = state.prepare(1, .expired, waiter: 0, now: at(time)) else { return }
      _ = state.succeeded(flight)
    }
  }

  @Test("The cool-down of a server that rejects its own new tokens grows, and starts again after a healthy hour")
  func rejectsNewTokens() {
    var state = State()
    var time = 0
    for (generation, pause) in zip([2, 3, 4, 5] as [UInt64], [1, 2, 4, 8]) {
      state.rejectedAfterRefresh(generation, current: generation, now: at(time))
      #expect(
        state.rejected(generation, current: generation, waiter: 0, now: at(time + pause - 1)) == .fail(.temporary))
      time += pause
      guard case .startRefresh(let flight) = state.rejected(generation, current: generation, waiter: 0, now: at(time))
      else {
        Issue.record("no refresh after \(time) s")
        return
      }
      _ = state.succeeded(flight)
    }
    state.rejectedAfterRefresh(9, current: 9, now: at(time + 3600))
    #expect(state.rejected(9, current: 9, waiter: 0, now: at(time + 3600)) == .fail(.temporary))
    if case .fail = state.rejected(9, current: 9, waiter: 0, now: at(time + 3601)) { Issue.record("still waiting") }
  }

  @Test("An overdue refresh has no waiters, is not started again while it runs, and ends like any other refresh")
  func overdue() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    #expect(state.overdue(flight) == [0])
    #expect(state.overdue(flight) == [])
    #expect(state.flights == [flight])
    #expect(state.rejected(1, current: 1, waiter: 1, now: now) == .fail(.temporary))
    #expect(state.prepare(1, .expired, waiter: 2, now: now) == .fail(.temporary))
    #expect(state.prepare(1, .ageing, waiter: 3, now: now) == .send)
    #expect(state.prepare(1, .fresh, waiter: 4, now: now) == .send)
    #expect(state.failed(flight, .permanent, now: now) == [])
    #expect(state.rejected(1, current: 1, waiter: 5, now: now) == .fail(.permanent))
    #expect(state.overdue(flight) == [])
  }

  @Test("A sign-in or sign-out resumes all waiters, and the result of the refresh is discarded")
  func replacing() {
    var state = State()
    let flight = State.Flight(number: 0, generation: 1)
    _ = state.rejected(1, current: 1, waiter: 0, now: now)
    #expect(state.replaced(by: 0) == [])
    #expect(state.replaced(by: 1) == [])
    #expect(state.replaced(by: 2) == [0])
    #expect(state.flights == [])
    #expect(state.failed(flight, .permanent, now: now) == [])
    // The same generation, if it were current again, could be refreshed.
    #expect(state.rejected(1, current: 1, waiter: 1, now: now) == .startRefresh(.init(number: 1, generation: 1)))
  }

  @Test("An old refresh that still runs has its own waiters")
  func two() {
    var state = State()
    let (old, new) = (State.Flight(number: 0, generation: 1), State.Flight(number: 1, generation: 2))
    #expect(state.rejected(1, current: 1, waiter: 0, now: now) == .startRefresh(old))
    #expect(state.rejected(2, current: 2, waiter: 1, now: now) == .startRefresh(new))
    #expect(state.succeeded(old) == [0])
    #expect(state.waiters == [1])
    #expect(state.succeeded(new) == [1])
  }

  @Test("Calls that wait for the end of a cool-down read the credentials again when the credentials are replaced")
  func coolDownWaiters() {
    var state = State()
    state.waitsForCoolDown(1, of: 3)
    state.waitsForCoolDown(2, of: 4)
    state.waitsForCoolDown(3, of: 3)
    state.left(3)
    #expect(state.waiters == [1, 2])
    #expect(state.replaced(by: 3) == [])
    #expect(state.replaced(by: 4) == [1])
    #expect(state.replaced(by: 4) == [])
    #expect(state.replaced(by: 9) == [2])
    #expect(state.waiters.isEmpty)
  }
}
