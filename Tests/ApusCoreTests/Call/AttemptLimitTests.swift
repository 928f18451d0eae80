import ApusCore
import ApusTesting
import HTTPTypes
import Testing

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

/// A deadline target that opens its gate at the deadline.
private final class Bell: DeadlineTarget {
  let gate = Gate()

  func deadlinePassed() {
    gate.open()
  }
}

@Suite("The deadline of an attempt")
struct AttemptLimitTests {
  /// Runs `work` with the context of a call.
  private func with(_ work: @escaping @Sendable (CallContext, ManualClock) async throws -> Void) async throws {
    let clock = Log<ManualClock>()
    let bench = CallBench(middlewares: [
      (
        Doing { _, context, _ in
          if let clock = clock.all.first { try await work(context, clock) }
          return .text("")
        }, .attemptTimeout
      )
    ])
    clock.add(bench.clock)
    _ = try await bench.api.send(Request<String>.get("/"))
  }

  @Test("Of several deadlines, the earliest applies, for an attempt and for the call")
  func earlier() async throws {
    try await with { context, _ in
      var context = context
      #expect(context.nearestDeadline == nil && !context.isAttemptOver)
      context.limitAttempt(to: at(5))
      context.limitAttempt(to: at(8))
      #expect(context.attemptDeadline == at(5) && context.nearestDeadline == at(5))
      context.limit(to: at(9))
      #expect(context.attemptDeadline == at(5) && context.deadline == at(9))
      context.limitAttempt(to: at(3))
      #expect(context.nearestDeadline == at(3))
      // The call's deadline is nearer: it ends the call and the attempt.
      context.limit(to: at(3))
      #expect(context.attemptDeadline == nil && context.nearestDeadline == at(3))
      context.limitAttempt(to: at(3))
      #expect(context.attemptDeadline == nil)
    }
  }

  @Test("Events determine the phase of a call, and a cancellation request does not change the phase")
  func phase() async throws {
    try await with { context, _ in
      #expect(context.call.phase == .waiting)
      context.record(.exchangeStarted)
      #expect(context.call.phase == .connecting)
      context.record(.cancelRequested(.requested))
      #expect(context.call.phase == .connecting)
    }
  }

  @Test("An alarm notifies its target at the deadline, unless the alarm was cancelled")
  func alarms() async throws {
    try await with { context, clock in
      let (bell, silent, late) = (Bell(), Bell(), Bell())
      #expect(context.alarm(for: bell) == nil)
      var context = context
      context.limitAttempt(to: at(5))
      let alarm = context.alarm(for: bell)
      context.alarm(for: silent)?.cancel()
      #expect(alarm != nil)
      try await clock.waitForSleepers(1)
      clock.advance(to: at(4))
      #expect(!bell.gate.isOpen && !context.isAttemptOver)
      try await clock.waitForSleepers(1)
      clock.advance(to: at(5))
      try await bell.gate.wait()
      #expect(context.isAttemptOver && !silent.gate.isOpen)
      alarm?.cancel()
      // An alarm set after the deadline notifies immediately.
      #expect(context.alarm(for: late) != nil)
      try await late.gate.wait()
    }
  }

  @Test("An exchange does not start after its attempt's deadline")
  func over() async throws {
    let bench = CallBench(middlewares: [
      (
        Doing { request, context, next in
          var context = context
          context.limitAttempt(to: context.now)
          return try await next(request, context: context)
        }, .attemptTimeout
      )
    ])
    bench.stub.onAny(reply: .text("ok"))
    let error = try #require(await bench.api.result(of: Request<String>.get("/")).error)
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect(error.cancellation == nil)
    #expect(bench.stub.exchanges.isEmpty)
  }
}
