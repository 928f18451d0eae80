import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Failed attempts")
struct FailedAttemptTests {
  private let start = MonotonicInstant(sinceStart: .seconds(1))

  private func attempt(
    _ cause: FailedAttempt.Cause, _ decision: FailedAttempt.Decision = .retry(after: .seconds(1), .backoff)
  ) -> FailedAttempt {
    FailedAttempt(1, in: start...start.advanced(by: .milliseconds(80)), cause, decision)
  }

  private func event(_ kind: TraceEvent.Kind) -> TraceEvent {
    TraceEvent(kind: kind, instant: start, attempt: 1)
  }

  @Test("The description of a failed attempt has the failure and the retry decision, and every reason has a text")
  func text() {
    #expect("\(attempt(.status(500)))" == "status 500: retry in 1000.000 ms, backoff with jitter")
    let last = attempt(.failed(.connectionLost, .maybeSent), .giveUp(.notIdempotent))
    #expect("\(last)" == "connectionLost (maybeSent): no retry, the server may have acted on the request")
    #expect(last.duration == .milliseconds(80))
    let pauses = FailedAttempt.DelayReason.allCases.map { "\($0)" }
    let ends = FailedAttempt.GiveUpReason.allCases.map { "\($0)" }
    #expect(Set(pauses + ends).count == pauses.count + ends.count)
  }

  @Test("A trace lists failed attempts in order")
  func trace() {
    let attempts = [attempt(.status(500)), attempt(.status(503), .giveUp(.attemptsExhausted))]
    let events = [event(.started), event(.attemptFailed(attempts[0])), event(.decoded)]
    let trace = Trace(
      id: "load", endpoint: EndpointIdentity(method: .get, template: "/"),
      events: events + [event(.attemptFailed(attempts[1]))])
    #expect(trace.failedAttempts == attempts)
  }

  @Test(
    "Between attempts a call waits, and its request state does not change",
    arguments: [
      (FailedAttempt.Cause.failed(.connectionFailed, .notSent), RequestState.notSent),
      (.failed(.connectionLost, .maybeSent), .maybeSent), (.status(503), .maybeSent),
    ])
  func waiting(cause: FailedAttempt.Cause, state: RequestState) {
    var call = CallState(reportsConnections: true)
    for kind in [TraceEvent.Kind.prepared, .exchangeStarted] { call.append(event(kind)) }
    call.append(event(.attemptFailed(attempt(cause))))
    #expect(call.phase == .waiting && call.requestState == state)
    call.append(event(.exchangeStarted))
    #expect(call.phase == .connecting && call.requestState == state)
  }

  @Test("After the last attempt the phase of a call is that of the last attempt")
  func last() {
    var call = CallState()
    for kind in [TraceEvent.Kind.prepared, .exchangeStarted, .requestSent] { call.append(event(kind)) }
    call.append(event(.attemptFailed(attempt(.failed(.connectionLost, .maybeSent), .giveUp(.attemptsExhausted)))))
    #expect(call.phase == .awaitingHead)
  }

  @Test(
    "A valid Retry-After-Ms takes precedence over Retry-After",
    arguments: [
      ("1500", .milliseconds(1500)), ("0", .zero), ("1.5", .seconds(7)), ("", .seconds(7)), ("-3", .seconds(7)),
      ("99999999999999999999", .seconds(1 << 31)),
    ] as [(String, Duration)])
  func milliseconds(text: String, delay: Duration) throws {
    let name = try #require(HTTPField.Name("Retry-After-Ms"))
    let head = HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "7", name: text])
    #expect(ResponseMessage(head: head).retryAfter == delay)
    #expect(ResponseMessage(head: HTTPResponse(status: .ok)).retryAfter == nil)
  }
}
