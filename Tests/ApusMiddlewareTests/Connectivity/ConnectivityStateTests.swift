import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

@Suite("Connectivity: its state")
struct ConnectivityStateTests {
  typealias State = ConnectivityState

  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  private func arrive(
    _ state: inout State, _ waiter: UInt64, _ policy: ConnectivityPolicy = .wait, at seconds: Int
  ) -> State.Decision {
    state.arrive(waiter, policy, isFirst: false, now: at(seconds))
  }

  /// Admits another call.
  private func pass(_ state: inout State, at seconds: Int) throws -> State.Permit {
    let decision = arrive(&state, 1000, .failFast, at: seconds)
    guard case .pass(let permit) = decision else { throw Refused() }
    return permit
  }

  private struct Refused: Error {}

  @Test("Without evidence of being offline, ConnectivityState admits all calls", arguments: ConnectivityPolicy.allCases)
  func passing(policy: ConnectivityPolicy) {
    for status in [ConnectivityStatus.unknown, .online] {
      var state = State()
      _ = state.report(status)
      guard case .pass(let permit) = arrive(&state, 0, policy, at: 0) else {
        Issue.record("held up")
        return
      }
      #expect(!permit.isProbe)
    }
  }

  @Test(
    "While offline, failFast calls are refused, wait calls wait, and pauseRetries calls wait from the second attempt")
  func offline() {
    var state = State()
    #expect(state.report(.offline) == .init(change: .offline))
    #expect(state.report(.offline) == .init())
    let refused = arrive(&state, 0, .failFast, at: 0)
    let waiting = arrive(&state, 1, .wait, at: 0)
    let second = arrive(&state, 2, .pauseRetries, at: 0)
    #expect([refused, waiting, second] == [.refuse, .wait, .wait])
    let first = state.arrive(3, .pauseRetries, isFirst: true, now: at(0))
    #expect(first != .wait && first != .refuse)
    #expect(state.waiting == [1, 2])
    state.leave(1)
    let online = state.report(.online)
    #expect(online.change == .online && online.released.map(\.waiter) == [2])
    #expect(state.waiting.isEmpty)
  }

  @Test("A call's evidence overrides the source: a failure without a network sets offline, a response sets online")
  func findings() throws {
    var state = State()
    let permit = try pass(&state, at: 0)
    #expect(state.found(.nothing, permit, now: at(0)) == .init())
    #expect(state.found(.unreachable, permit, now: at(0)) == .init(change: .offline))
    #expect(state.found(.reached, permit, now: at(0)) == .init(change: .online))
    // The call began before the network was available.
    #expect(state.found(.unreachable, permit, now: at(0)) == .init())
    #expect(state.status == .online)
  }

  @Test("While offline, one probe at a time is sent, at growing intervals, until a probe gets a response")
  func probing() throws {
    var state = State()
    let permit = try pass(&state, at: 0)
    _ = state.found(.unreachable, permit, now: at(0))
    for waiter in 0..<9 as Range<UInt64> {
      let decision = arrive(&state, waiter, at: 0)
      #expect(decision == .wait)
    }
    var time = 0
    for (number, pause) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
      #expect(state.wake == at(time + pause))
      #expect(state.timePassed(at(time + pause - 1)) == .init())
      time += pause
      let probes = state.timePassed(at(time)).released
      let probe = try #require(probes.permit(of: UInt64(number)))
      #expect(probes.count == 1 && probe.isProbe)
      #expect(state.timePassed(at(time)) == .init())
      #expect(state.found(.unreachable, probe, now: at(time)) == .init())
    }
    let probes = state.timePassed(at(time + 30)).released
    let probe = try #require(probes.permit(of: 7))
    let online = state.found(.reached, probe, now: at(time + 30))
    #expect(online.change == .online && online.released.map(\.waiter) == [8])
  }

  @Test("A probe that is cancelled or never ends is replaced by the next probe")
  func abandoned() throws {
    var state = State()
    _ = state.report(.offline)
    for waiter in 0..<4 as Range<UInt64> {
      let decision = arrive(&state, waiter, at: 0)
      #expect(decision == .wait)
    }
    let first = try #require(state.timePassedCopy(at(30)).released.permit(of: 0))
    _ = state.timePassed(at(30))
    let second = try #require(state.abandonedCopy(first).released.permit(of: 1))
    _ = state.abandoned(first)
    #expect(state.abandoned(first) == .init())
    #expect(state.wake == at(60))
    let third = state.timePassed(at(60)).released
    #expect(third.map(\.waiter) == [2])
    // The late evidence of the abandoned probe is evaluated, too.
    #expect(state.found(.reached, second, now: at(61)).change == .online)
  }

  @Test("A complete response is evidence of a network; a connection lost after the head is no evidence")
  func errors() {
    let table: [(CallError.Code, State.Finding)] = [
      (.offline, .unreachable), (.connectionLost, .nothing), (.timeout, .nothing),
      (.malformedResponse, .reached), (.contentTooLarge, .reached),
    ]
    for (kind, finding) in table {
      #expect(State.Finding(TransportError(kind, requestState: .responded)) == finding, "\(kind)")
    }
    #expect(State.Finding(CancellationError()) == .untried)
    for subject in [TransportError.Source.trafficControl, .content] {
      #expect(State.Finding(TransportError(.refused, requestState: .notSent).attributed(to: subject)) == .untried)
      #expect(State.Finding(TransportError(.offline, requestState: .notSent).attributed(to: subject)) == .unreachable)
    }
    #expect(
      State.Finding(TransportError(.connectionLost, requestState: .maybeSent).attributed(to: .content)) == .nothing)
    #expect(State.Finding(TransportError(.refused, requestState: .notSent).attributed(to: .credentials)) == .nothing)
  }

  @Test("A probe without evidence delays the next probe; a probe that was not sent is replaced immediately")
  func endings() throws {
    let table: [(State.Finding, [UInt64])] = [(.nothing, []), (.untried, [1])]
    for (finding, next) in table {
      var state = State()
      _ = state.report(.offline)
      for waiter in 0..<3 as Range<UInt64> { _ = arrive(&state, waiter, at: 0) }
      let probe = try #require(state.timePassedCopy(at(30)).released.permit(of: 0))
      _ = state.timePassed(at(30))
      let consequence = state.found(finding, probe, now: at(31))
      #expect(consequence.released.map(\.waiter) == next)
      #expect(state.wake == at(61))
    }
  }

  /// The probe in flight, and the instant until which no other probe may begin.
  private struct Probing {
    var permit: State.Permit?
    var until = 0

    mutating func ended(_ permit: State.Permit) {
      if self.permit == permit { self.permit = nil }
    }

    /// Returns whether another probe may begin.
    ///
    /// - Parameter time: the time for which the probe is the only one.
    mutating func begins(_ permit: State.Permit, at second: Int, for time: Int = 30) -> Bool {
      guard permit.isProbe else { return true }
      defer { (self.permit, until) = (permit, second + time) }
      return self.permit == nil || second >= until
    }
  }

  @Test(
    "In any order of events no call waits while online, and at most one probe is in flight",
    arguments: 0..<40 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = State()
    var waiting: Set<UInt64> = []
    var running: [State.Permit] = []
    var probing = Probing()
    var second = 0
    for waiter in 0..<400 as Range<UInt64> {
      var consequence = State.Effect()
      var isAbandoned = false
      switch random.next() % 8 {
      case 0..<3:
        let policy = ConnectivityPolicy.allCases[Int(random.next() % 3)]
        switch state.arrive(waiter, policy, isFirst: random.next() % 2 == 0, now: at(second)) {
        case .pass(let permit):
          running.append(permit)
          #expect(probing.begins(permit, at: second) == true, "seed \(seed), step \(waiter)")
        case .wait: waiting.insert(waiter)
        case .refuse: #expect(policy == .failFast && state.status == .offline, "seed \(seed)")
        }
      case 3, 4:
        guard !running.isEmpty else { continue }
        let permit = running.remove(at: Int(random.next() % UInt64(running.count)))
        let finding = [State.Finding.reached, .unreachable, .unreachable, .nothing, .untried][Int(random.next() % 5)]
        probing.ended(permit)
        isAbandoned = random.next() % 8 == 0
        consequence = isAbandoned ? state.abandoned(permit) : state.found(finding, permit, now: at(second))
        if finding == .reached, !isAbandoned { #expect(state.status == .online, "seed \(seed)") }
      case 5 where random.next() % 4 == 0: consequence = state.report(random.next() % 2 == 0 ? .offline : .unknown)
      case 6:
        guard let leaving = waiting.sorted().randomElement(using: &random) else { continue }
        waiting.remove(leaving)
        state.leave(leaving)
      default:
        second += Int(random.next() % 20)
        if let wake = state.wake, wake <= at(second) { consequence = state.timePassed(at(second)) }
      }
      #expect(consequence.released.allSatisfy { waiting.contains($0.waiter) }, "seed \(seed)")
      waiting.subtract(consequence.released.map(\.waiter))
      if consequence.change != nil { probing.permit = nil }
      for release in consequence.released {
        // The timer of a call that left does not run, so the next call's interval starts at that timer's instant.
        #expect(probing.begins(release.permit, at: second, for: isAbandoned ? 0 : 30) == true, "seed \(seed)")
      }
      running += consequence.released.map(\.permit)
      #expect(Set(state.waiting) == waiting, "seed \(seed), step \(waiter)")
      #expect(state.status == .offline || waiting.isEmpty, "seed \(seed), step \(waiter)")
      #expect(waiting.isEmpty || state.wake != nil, "seed \(seed), step \(waiter): nothing wakes who waits")
    }
  }
}

extension ConnectivityState {
  fileprivate func timePassedCopy(_ now: MonotonicInstant) -> Effect {
    var copy = self
    return copy.timePassed(now)
  }

  fileprivate func abandonedCopy(_ permit: Permit) -> Effect {
    var copy = self
    return copy.abandoned(permit)
  }
}

extension [ConnectivityState.Release] {
  fileprivate func permit(of waiter: ConnectivityState.Waiter) -> ConnectivityState.Permit? {
    first { $0.waiter == waiter }?.permit
  }
}
