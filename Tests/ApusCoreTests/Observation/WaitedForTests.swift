import Testing

@testable import ApusCore

@Suite("The last wait of a timed-out call")
struct WaitedForTests {
  private static let now = MonotonicInstant(sinceStart: .zero)
  private static let origin = Origin(scheme: "https", host: "x.test", port: 443)
  private static let failed = FailedAttempt(
    1, in: now...now, .status(503), .retry(after: .seconds(1), .backoff))

  @Test(
    "CallState.waitedFor is determined by the last trace event",
    arguments: [
      (.queued(.global(limit: 5)), "was queued (global concurrency limit, 5)"),
      (.queued(.rateLimit), "was queued (rate limit)"),
      (.queued(.network), "waited for a network"),
      (.awaitingCredentials(generation: 1), "waited for new credentials"),
      (.attemptFailed(failed), "waited for its next attempt"),
      (.redirected(status: 302, from: origin, to: origin), "waited to follow a redirect"),
      (.prepared, ""), (.exchangeStarted, ""), (.admitted(after: .zero), ""),
    ] as [(TraceEvent.Kind, String)])
  func last(kind: TraceEvent.Kind, text: String) {
    var state = CallState()
    state.append(TraceEvent(kind: .queued(.held), instant: Self.now, attempt: 1))
    state.append(TraceEvent(kind: kind, instant: Self.now, attempt: 1))
    #expect(state.waitedFor == text)
    _ = state.cancel(at: Self.now) { .deadline($0) }
    _ = state.end(.failed(.timeout), at: Self.now)
    #expect(state.waitedFor == text)
  }

  @Test("CallState.waitedFor is empty for a call without events")
  func nothing() {
    #expect(CallState().waitedFor == "")
  }
}
