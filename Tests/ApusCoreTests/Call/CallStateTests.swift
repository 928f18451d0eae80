import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

private func event(_ kind: TraceEvent.Kind, attempt: Int = 1) -> TraceEvent {
  TraceEvent(kind: kind, instant: MonotonicInstant(sinceStart: .zero), attempt: attempt)
}

private let now = MonotonicInstant(sinceStart: .seconds(1))

private final class Switch: Cancellable {
  func cancel() {}
}

@Suite("The state of a call")
struct CallStateTests {
  @Test(
    "Each event moves the call to its phase",
    arguments: [
      (TraceEvent.Kind.started, CallPhase.preparing, RequestState.notSent), (.prepared, .waiting, .notSent),
      (.exchangeStarted, .connecting, .maybeSent), (.requestSent, .awaitingHead, .maybeSent),
      (.headArrived(status: 200), .receiving, .maybeSent), (.contentArrived(length: 1), .decoding, .maybeSent),
      (.queued(.held), .waiting, .notSent),
    ])
  func phases(kind: TraceEvent.Kind, phase: CallPhase, requestState: RequestState) {
    var state = CallState()
    state.append(event(kind))
    #expect(state.phase == phase)
    #expect(state.requestState == requestState)
    state.headArrived(HTTPResponse(status: .ok))
    #expect(state.requestState == .responded)
  }

  @Test("A queued call reserves no memory for future events")
  func queuedEvents() {
    var state = CallState()
    for kind in [TraceEvent.Kind.started, .prepared] { state.append(event(kind)) }
    let reserved = state.events.capacity
    state.append(event(.queued(.held)))
    #expect(state.events.map(\.kind) == [.started, .prepared, .queued(.held)])
    #expect(state.events.capacity < reserved / 2)
  }

  @Test("A call that waits for a shared exchange has the request state maybeSent")
  func joined() {
    var state = CallState()
    for kind in [TraceEvent.Kind.prepared, .coalesced(serial: 1)] { state.append(event(kind)) }
    #expect(state.phase == .waiting)
    #expect(state.requestState == .maybeSent)
  }

  @Test(
    "If the transport reports connections, the request state is notSent until an attempt has a connection"
  )
  func waitingForConnection() {
    var state = CallState(reportsConnections: true)
    for kind in [TraceEvent.Kind.prepared, .exchangeStarted] { state.append(event(kind)) }
    #expect(state.phase == .connecting)
    #expect(state.requestState == .notSent)
    state.append(event(.connected(reused: true)))
    #expect(state.requestState == .maybeSent)
    state.append(event(.exchangeStarted, attempt: 2))
    #expect(state.requestState == .maybeSent)
    var joined = CallState(reportsConnections: true)
    for kind in [TraceEvent.Kind.coalesced(serial: 1), .exchangeStarted] { joined.append(event(kind)) }
    #expect(joined.requestState == .maybeSent)
  }

  @Test("A new attempt resets the byte counts and the response")
  func secondAttempt() {
    var state = CallState()
    state.append(event(.exchangeStarted))
    state.append(event(.sendProgress(sent: 10, expected: 20)))
    state.headArrived(HTTPResponse(status: .serviceUnavailable, headerFields: [.contentLength: "9"]))
    #expect(state.received(4, at: now) == (4, 9))
    #expect(state.received(5, at: now) == (9, 9))
    #expect(state.sentBytes == 10)
    state.append(event(.exchangeStarted, attempt: 2))
    #expect(state.attempts == 2)
    #expect(state.received(1, at: now) == (1, nil))
    #expect(state.sentBytes == 0)
    #expect(state.requestState == .maybeSent)
  }

  @Test("The trace excludes progress events, and contains at most 1000 events")
  func bounded() {
    var state = CallState()
    for number in 0..<1500 {
      state.append(event(.note("step", Int64(number))))
      state.append(event(.sendProgress(sent: 1, expected: nil)))
    }
    #expect(state.events.count == 1000)
    #expect(state.droppedEvents == 500)
  }

  @Test("Work that is attached to a call after its cancellation is cancelled immediately")
  func lateAttach() {
    var state = CallState()
    let isCancelledBefore = state.attach(Switch())
    let cancelled = state.cancel(at: now) { _ in .requested }
    let isCancelledAfter = state.attach(Switch())
    #expect(!isCancelledBefore)
    #expect(cancelled?.canceller is Switch)
    #expect(isCancelledAfter)
  }

  private enum Move: Sendable {
    case event(TraceEvent.Kind)
    case head(length: Int?)
    case received(Int)
  }

  /// Applies one move per second, and returns the time during which content was transferred.
  private func time(_ moves: [Move], sharesExchange: Bool = false) -> Duration {
    var state = CallState()
    var second = 0
    var now: MonotonicInstant { MonotonicInstant(sinceStart: .seconds(second)) }
    if sharesExchange {
      state.shareExchange()
    } else {
      _ = state.limits.setDefaultLimit(CallTimeLimit(.seconds(30), since: now))
    }
    for move in moves {
      second += 1
      switch move {
      case .event(let kind): state.append(TraceEvent(kind: kind, instant: now, attempt: 1))
      case .head(let length):
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentLength] = length.map { "\($0)" }
        state.headArrived(head)
      case .received(let count): _ = state.received(count, at: now)
      }
    }
    return state.limits.content.time(at: MonotonicInstant(sinceStart: .seconds(100)))
  }

  private static let movements: [([Move], Int)] = [
    ([.event(.exchangeStarted), .event(.requestSent), .head(length: nil)], 0),
    // A response in one piece.
    ([.event(.exchangeStarted), .event(.requestSent), .head(length: 4), .received(4)], 0),
    ([.head(length: 4), .received(2), .received(2), .event(.contentArrived(length: 4))], 2),
    // A response that is not complete.
    ([.head(length: 9), .received(2)], 98),
    ([.head(length: nil), .received(2), .event(.contentArrived(length: 2))], 1),
    ([.head(length: 9), .received(2), .event(.exchangeStarted)], 1),
    // Request content in one piece.
    ([.event(.sendProgress(sent: 5, expected: 5)), .event(.requestSent)], 0),
    ([.event(.sendProgress(sent: 2, expected: 5)), .event(.sendProgress(sent: 5, expected: 5))], 1),
    ([.event(.sendProgress(sent: 2, expected: nil)), .event(.requestSent), .head(length: nil)], 1),
    // A response before the request is complete.
    ([.event(.sendProgress(sent: 2, expected: nil)), .head(length: nil), .event(.requestSent)], 99),
  ]

  @Test(
    "A content transfer lasts from the first progress until the content is complete or the exchange ends",
    arguments: movements)
  private func movement(moves: [Move], seconds: Int) {
    #expect(time(moves) == .seconds(seconds))
    // A call that shares the exchange has the same transfer time.
    #expect(time(moves, sharesExchange: true) == .seconds(seconds))
  }

  @Test("The clock is read neither for calls without a limit nor for a response in one piece")
  func noClock() {
    func never() -> MonotonicInstant {
      Issue.record("the clock was read")
      return now
    }
    var unlimited = CallState()
    _ = unlimited.received(1, at: never())
    var limited = CallState()
    _ = limited.limits.setDefaultLimit(CallTimeLimit(.seconds(30), since: now))
    limited.headArrived(HTTPResponse(status: .ok, headerFields: [.contentLength: "7"]))
    _ = limited.received(7, at: never())
  }

  @Test("In any order of events, a call reports its first cancellation reason and ends once", arguments: 0..<200)
  func randomOrder(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var state = CallState()
    var firstReason: CancellationReason?
    var outcome: TraceEvent.Kind?
    let reasons: [CancellationReason] = [.caller, .requested, .superseded, .deadline(.waiting)]
    for _ in 0..<40 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        let reason = try #require(reasons.randomElement(using: &generator))
        let cancelled = state.cancel(at: now) { _ in reason }
        #expect((cancelled != nil) == (firstReason == nil && outcome == nil))
        if let cancelled {
          firstReason = reason
          #expect(cancelled.event.kind == .cancelRequested(reason))
        }
      case 1 where Int.random(in: 0..<8, using: &generator) == 0:
        let kind = [TraceEvent.Kind.succeeded, .failed(.connectionLost)].randomElement(using: &generator) ?? .succeeded
        let end = state.end(kind, at: now)
        #expect((end != nil) == (outcome == nil))
        if let end {
          outcome = firstReason.map { .failed($0.code) } ?? kind
          #expect(end.event.kind == outcome)
          #expect(end.reason == firstReason)
        }
      default:
        // A call that has ended records no events.
        if outcome == nil { state.append(event(.exchangeStarted)) }
      }
      #expect(state.isEnded == (outcome != nil))
      #expect(state.reason == firstReason)
    }
    #expect(state.events.filter(\.kind.isEnd).count == (outcome == nil ? 0 : 1))
    if let outcome { #expect(state.events.last?.kind == outcome) }
  }
}
