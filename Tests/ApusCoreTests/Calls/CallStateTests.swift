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
    "events move the call from phase to phase",
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
    #expect(state.requestState == .answered)
  }

  @Test("a call that shares an exchange may have been sent, though it only waits")
  func joined() {
    var state = CallState()
    for kind in [TraceEvent.Kind.prepared, .joined(serial: 1)] { state.append(event(kind)) }
    #expect(state.phase == .waiting)
    #expect(state.requestState == .maybeSent)
  }

  @Test(
    "where the transport tells of connections, a call without one has not been sent, nor been sent by another attempt")
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
    for kind in [TraceEvent.Kind.joined(serial: 1), .exchangeStarted] { joined.append(event(kind)) }
    #expect(joined.requestState == .maybeSent)
  }

  @Test("a new exchange starts its own counts and has no answer yet")
  func secondAttempt() {
    var state = CallState()
    state.append(event(.exchangeStarted))
    state.append(event(.sendProgress(sent: 10, expected: 20)))
    state.headArrived(HTTPResponse(status: .serviceUnavailable, headerFields: [.contentLength: "9"]))
    #expect(state.received(4) == (4, 9))
    #expect(state.received(5) == (9, 9))
    #expect(state.sentBytes == 10)
    state.append(event(.exchangeStarted, attempt: 2))
    #expect(state.attempts == 2)
    #expect(state.received(1) == (1, nil))
    #expect(state.sentBytes == 0)
    #expect(state.requestState == .maybeSent)
  }

  @Test("progress is not kept in the trace, and a trace is bounded")
  func bounded() {
    var state = CallState()
    for number in 0..<1500 {
      state.append(event(.note("step", Int64(number))))
      state.append(event(.sendProgress(sent: 1, expected: nil)))
    }
    #expect(state.events.count == 1000)
    #expect(state.droppedEvents == 500)
  }

  @Test("what is attached after a reason to cancel is cancelled at once")
  func lateAttach() {
    var state = CallState()
    let isCancelledBefore = state.attach(Switch())
    let cancelled = state.cancel(at: now) { _ in .requested }
    let isCancelledAfter = state.attach(Switch())
    #expect(!isCancelledBefore)
    #expect(cancelled?.canceller is Switch)
    #expect(isCancelledAfter)
  }

  @Test("a deadline is replaced by an earlier one only, and taken back at the end")
  func deadlines() {
    var heap = DeadlineHeap<any DeadlineTarget>()
    let target = Target()
    let keys = (0..<4).map { _ in heap.insert(target, at: now) }
    var state = CallState()
    #expect(state.limit(to: now, keys[0]) == nil)
    #expect(state.limit(to: now.advanced(by: .seconds(1)), keys[1]) == keys[1])
    #expect(state.limit(to: now.advanced(by: .seconds(-1)), keys[2]) == keys[0])
    let end = state.end(.succeeded, at: now)
    #expect(end?.deadlineKey == keys[2])
    #expect(state.limit(to: now.advanced(by: .seconds(-9)), keys[3]) == keys[3])
  }

  @Test("in any order of events the first reason decides, and there is one end", arguments: 0..<200)
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
        let kind = [TraceEvent.Kind.succeeded, .failed(.broken)].randomElement(using: &generator) ?? .succeeded
        let end = state.end(kind, at: now)
        #expect((end != nil) == (outcome == nil))
        if let end {
          outcome = firstReason.map { .failed($0.code) } ?? kind
          #expect(end.event.kind == outcome)
          #expect(end.reason == firstReason)
        }
      default:
        // The shell writes nothing down once the call has ended.
        if outcome == nil { state.append(event(.exchangeStarted)) }
      }
      #expect(state.isEnded == (outcome != nil))
      #expect(state.reason == firstReason)
    }
    #expect(state.events.filter(\.kind.isEnd).count == (outcome == nil ? 0 : 1))
    if let outcome { #expect(state.events.last?.kind == outcome) }
  }
}

private final class Target: DeadlineTarget {
  func deadlinePassed() {}
}
