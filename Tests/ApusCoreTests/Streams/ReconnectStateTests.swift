import Testing

@testable import ApusCore

@Suite("Reconnection decisions")
struct ReconnectStateTests {
  private typealias Failure = ReconnectState.Failure

  private func instant(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(sinceStart: .seconds(seconds))
  }

  /// Returns a state after the first connection at instant zero.
  private func connected(isAllowed: Bool = true, isRepeatable: Bool = true, id: String = "") -> ReconnectState {
    var state = ReconnectState(isAllowed: isAllowed, isRepeatable: isRepeatable, lastEventID: id)
    state.connected(at: instant(0))
    return state
  }

  @Test("Any failure of the first connection of a stream is final")
  func firstConnection() {
    var state = ReconnectState(isRepeatable: true, lastEventID: "7")
    #expect(state.ended(.failed(Failure(isTemporary: true, wasSent: false)), at: instant(0), jitter: 0) == .fail)
  }

  /// A stream that has ended, and the expected decisions.
  fileprivate struct Rule {
    var isTemporary = true
    var isRepeatable = true
    var id = ""
    var isAllowed = true
    /// The expected actions after a complete response and after a failure.
    let actions: [ReconnectState.Action]
  }

  @Test(
    "A stream reconnects depending on the failure, the request and the last event ID",
    arguments: [
      Rule(actions: [.connect(after: .zero), .connect(after: .zero)]),
      Rule(isRepeatable: false, id: "7", actions: [.connect(after: .zero), .connect(after: .zero)]),
      Rule(isRepeatable: false, actions: [.finish, .fail]),
      Rule(isTemporary: false, id: "7", actions: [.connect(after: .zero), .fail]),
      Rule(id: "7", isAllowed: false, actions: [.finish, .fail]),
    ])
  fileprivate func rules(_ rule: Rule) {
    let endings = [ReconnectState.Ending.complete, .failed(Failure(isTemporary: rule.isTemporary))]
    let actions = endings.map { ending in
      var state = connected(isAllowed: rule.isAllowed, isRepeatable: rule.isRepeatable, id: rule.id)
      return state.ended(ending, at: instant(1), jitter: 0)
    }
    #expect(actions == rule.actions)
  }

  @Test("A stream reconnects if its request was not sent")
  func notSent() {
    var state = connected(isRepeatable: false)
    let failure = Failure(isTemporary: true, wasSent: false)
    #expect(state.ended(.failed(failure), at: instant(1), jitter: 0) == .connect(after: .zero))
  }

  @Test("A stream can be resumed after an event with an ID, but not after an empty ID")
  func position() {
    var state = connected(isRepeatable: false)
    state.reached(StreamPosition(lastEventID: "8"))
    #expect(state.lastEventID == "8")
    #expect(state.ended(.complete, at: instant(1), jitter: 0) == .connect(after: .zero))
    state.reached(StreamPosition(lastEventID: ""))
    #expect(state.ended(.complete, at: instant(1), jitter: 0) == .finish)
  }

  /// Returns the delays of consecutive connections, in seconds.
  private func delays(_ count: Int, retry: Duration?, jitter: Double, lasting time: Double = 1) -> [Double] {
    var state = connected()
    state.reached(StreamPosition(reconnectionTime: retry))
    return (0..<count).map { index in
      let start = Double(index) * 1000
      state.connected(at: instant(start))
      guard case .connect(let delay) = state.ended(.complete, at: instant(start + time), jitter: jitter) else {
        return -1
      }
      return Double(delay.components.seconds) + Double(delay.components.attoseconds) / 1e18
    }
  }

  @Test(
    "The reconnection delay is a random fraction of a bound that doubles from 3 to 30 seconds",
    arguments: [
      (0, [0, 0, 0, 0, 0, 0]), (0.5, [1.5, 3, 6, 12, 15, 15]), (1, [3, 6, 12, 24, 30, 30]),
    ] as [(Double, [Double])])
  func backoff(jitter: Double, expected: [Double]) {
    #expect(delays(6, retry: nil, jitter: jitter) == expected)
  }

  @Test(
    "The server's reconnection time is the minimum delay and the start of the backoff",
    arguments: [
      (1, 0, [1, 1, 1]), (1, 1, [1.1, 2, 4, 8, 16, 30, 30]), (60, 1, [66, 66]), (60, 0.5, [63, 63]),
      (0, 1, [0, 0.2, 0.4, 0.8]), (100_000, 0, [3600]),
    ] as [(Int64, Double, [Double])])
  func reconnectionTime(retry: Int64, jitter: Double, expected: [Double]) {
    #expect(delays(expected.count, retry: .seconds(retry), jitter: jitter) == expected)
  }

  @Test("The backoff is reset after a connection of a minute")
  func healthy() {
    #expect(delays(4, retry: nil, jitter: 1, lasting: 60) == [3, 3, 3, 3])
    #expect(delays(4, retry: nil, jitter: 1, lasting: 59.9) == [3, 6, 12, 24])
  }

  @Test("A failed connection attempt does not reset the backoff, even if it takes long")
  func unconnected() {
    var state = connected()
    let failure = Failure(isTemporary: true)
    #expect(state.ended(.failed(failure), at: instant(1), jitter: 1) == .connect(after: .seconds(3)))
    #expect(state.ended(.failed(failure), at: instant(1000), jitter: 1) == .connect(after: .seconds(6)))
  }

  @Test("The server's Retry-After, up to an hour, is the minimum reconnection delay")
  func retryAfter() {
    var state = connected()
    let failure = Failure(isTemporary: true, retryAfter: .seconds(20))
    #expect(state.ended(.failed(failure), at: instant(1), jitter: 0) == .connect(after: .seconds(20)))
    #expect(state.ended(.failed(failure), at: instant(1), jitter: 1) == .connect(after: .seconds(22)))
    let absurd = Failure(isTemporary: true, retryAfter: .seconds(1 << 31))
    #expect(state.ended(.failed(absurd), at: instant(1), jitter: 0) == .connect(after: .seconds(3600)))
  }

  @Test("The server's reconnection time applies until the server sets another")
  func keptTime() {
    var state = connected()
    state.reached(StreamPosition(reconnectionTime: .seconds(1)))
    state.reached(StreamPosition())
    #expect(state.ended(.complete, at: instant(1), jitter: 0) == .connect(after: .seconds(1)))
  }

  @Test("A complete response to a poll resets the backoff")
  func poll() {
    var state = ReconnectState(isRepeatable: true)
    state.responded()
    let failure = Failure(isTemporary: true)
    #expect(state.ended(.failed(failure), at: instant(1), jitter: 1) == .connect(after: .seconds(3)))
    #expect(state.ended(.failed(failure), at: instant(2), jitter: 1) == .connect(after: .seconds(6)))
    state.responded()
    #expect(state.ended(.failed(failure), at: instant(3), jitter: 1) == .connect(after: .seconds(3)))
  }

  @Test(
    "An error is temporary depending on its code and status",
    arguments: [
      (CallError(.offline), true), (CallError(.hostNotFound), true), (CallError(.connectionFailed), true),
      (CallError(.connectionLost), true), (CallError(.timeout), true), (CallError(.tls), false),
      (CallError(.cancelled), false), (CallError(.invalidRequest), false), (CallError(.encoding), false),
      (CallError(.decoding), false), (CallError(.contentTooLarge), false), (CallError(.malformedResponse), false),
      (CallError(.refused), false), (CallError(.rejected, status: 400), false),
      (CallError(.rejected, status: 401), false), (CallError(.rejected, status: 403), false),
      (CallError(.rejected, status: 404), false), (CallError(.rejected, status: 410), false),
      (CallError(.rejected, status: 408), true), (CallError(.rejected, status: 425), true),
      (CallError(.rejected, status: 429), true), (CallError(.rejected, status: 500), true),
      (CallError(.rejected, status: 501), false), (CallError(.rejected, status: 502), true),
      (CallError(.rejected, status: 503), true), (CallError(.rejected, status: 504), true),
    ] as [(CallError, Bool)])
  func errors(error: CallError, isTemporary: Bool) {
    #expect(ReconnectState.Failure(error, isFinal: false).isTemporary == isTemporary)
    #expect(!ReconnectState.Failure(error, isFinal: true).isTemporary)
  }
}

@Suite("The silence timeout of a stream")
struct SilenceStateTests {
  private func instant(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  @Test("The silence timeout expires while the app waits")
  func expires() {
    var state = SilenceState<Int>(limit: .seconds(10))
    #expect(state.begin(at: instant(0)) == instant(10))
    #expect(state.armed(1, at: instant(10)) == nil)
    #expect(state.alarmFired(at: instant(10)) == .expired)
    #expect(state.alarmFired(at: instant(20)) == .nothing)
  }

  @Test("A piece restarts the silence timeout without another alarm")
  func restarts() {
    var state = SilenceState<Int>(limit: .seconds(10))
    #expect(state.begin(at: instant(0)) == instant(10))
    _ = state.armed(1, at: instant(10))
    state.end()
    #expect(state.begin(at: instant(4)) == nil)
    #expect(state.alarmFired(at: instant(10)) == .again(at: instant(14)))
    #expect(state.armed(2, at: instant(14)) == nil)
    #expect(state.alarmFired(at: instant(14)) == .expired)
  }

  @Test("The silence timeout excludes time during which the app does not wait")
  func notWaiting() {
    var state = SilenceState<Int>(limit: .seconds(10))
    _ = state.begin(at: instant(0))
    _ = state.armed(1, at: instant(10))
    state.end()
    #expect(state.alarmFired(at: instant(10)) == .nothing)
    #expect(state.begin(at: instant(50)) == instant(60))
  }

  @Test("Stopping the silence timeout returns the alarm to cancel, even if the alarm is set concurrently")
  func stops() {
    var state = SilenceState<Int>(limit: .seconds(10))
    _ = state.begin(at: instant(0))
    _ = state.armed(1, at: instant(10))
    #expect(state.stop() == 1)
    #expect(state.armed(2, at: instant(10)) == 2)
    #expect(state.begin(at: instant(1)) == nil)
    #expect(state.alarmFired(at: instant(20)) == .nothing)
  }

  @Test("An alarm that fired before it was recorded does not prevent the next alarm")
  func lateRecord() {
    var state = SilenceState<Int>(limit: .seconds(10))
    _ = state.begin(at: instant(0))
    #expect(state.alarmFired(at: instant(10)) == .expired)
    _ = state.armed(1, at: instant(10))
    #expect(state.begin(at: instant(11)) == instant(21))
  }
}
