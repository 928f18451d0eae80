import ApusCore
import ApusTesting
import HTTPTypes
import Testing

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

/// Opens its gate when it is told.
private final class Bell: DeadlineTarget {
  let gate = Gate()

  func deadlinePassed() {
    gate.open()
  }
}

@Suite("The limit of an attempt")
struct AttemptLimitTests {
  /// Runs `work` with the context of a call.
  private func with(_ work: @escaping @Sendable (CallContext, ManualClock) async throws -> Void) async throws {
    let clock = Log<ManualClock>()
    let bench = CallBench(middlewares: [
      (
        Doing { _, context, _ in
          if let clock = clock.all.first { try await work(context, clock) }
          return .text("")
        }, .attemptDeadline
      )
    ])
    clock.add(bench.clock)
    _ = try await bench.api.send(Request<String>.get("/"))
  }

  @Test("an earlier limit stays in force, of an attempt and of the call")
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
      // The call's own end is nearer: it ends the call, and the attempt with it.
      context.limit(to: at(3))
      #expect(context.attemptDeadline == nil && context.nearestDeadline == at(3))
      context.limitAttempt(to: at(3))
      #expect(context.attemptDeadline == nil)
    }
  }

  @Test("what the call does is told, also after somebody has ended it")
  func phase() async throws {
    try await with { context, _ in
      #expect(context.phase == .waiting)
      context.record(.exchangeStarted)
      #expect(context.phase == .connecting)
      context.record(.cancelRequested(.requested))
      #expect(context.phase == .connecting)
    }
  }

  @Test("whoever waits is told when the time is up, and not when the alarm was taken back")
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
      // One that comes too late is told at once.
      #expect(context.alarm(for: late) != nil)
      try await late.gate.wait()
    }
  }

  @Test("an exchange does not begin when the time of its attempt is up already")
  func over() async throws {
    let bench = CallBench(middlewares: [
      (
        Doing { request, context, next in
          var context = context
          context.limitAttempt(to: context.now)
          return try await next(request, context: context)
        }, .attemptDeadline
      )
    ])
    bench.stub.onAny(answer: .text("ok"))
    let error = try #require(await bench.api.result(of: Request<String>.get("/")).error)
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect(error.cancellation == nil)
    #expect(bench.stub.exchanges.isEmpty)
  }
}
