import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("The deadline of a call")
struct DeadlineTests {
  private let bench = CallBench()

  @Test(
    "A call times out in any phase when its deadline passes",
    arguments: [
      ("head", CallPhase.awaitingHead, RequestState.maybeSent), ("content", .receiving, .responded),
      ("waiting", .waiting, .notSent),
    ])
  func phases(place: String, phase: CallPhase, requestState: RequestState) async throws {
    let gate = Gate()
    let waiting = Doing { request, context, next in
      if place == "waiting" { try await gate.wait() }
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(waiting, .scheduling)])
    bench.stub.onAny(reply: place == "head" ? .text("").waiting(for: gate) : .pieces(["a"], gate: gate))
    let call = Task { await bench.api.result(of: Request<String>.get("/").timeout(.seconds(3))) }
    try await gate.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(2999))
    #expect(bench.api.calls.count == 1)
    bench.clock.advance(by: .milliseconds(1))
    let error = try #require(await call.value.error)
    #expect(error.code == .timeout)
    #expect(error.cancellation == .deadline(phase))
    #expect(error.phase == phase)
    #expect(error.requestState == requestState)
    #expect(error.trace.duration == .seconds(3))
    #expect(bench.isClean)
  }

  @Test("A deadline does not affect a call that ends earlier")
  func inTime() async throws {
    bench.stub.onAny(reply: .text("ok"))
    #expect(try await bench.api.send(Request<String>.get("/").timeout(.seconds(1))) == "ok")
    bench.clock.advance(by: .seconds(2))
    #expect(bench.log.events.last == "succeeded")
  }

  @Test("Of the call's deadline and a middleware's deadline, the earlier applies", arguments: [(5, 2), (2, 5)])
  func earliest(outer: Int, inner: Int) async throws {
    let limiting = Doing { request, context, next in
      var context = context
      context.limit(to: context.call.startInstant.advanced(by: .seconds(inner)))
      #expect(context.deadline == context.call.startInstant.advanced(by: .seconds(2)))
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(limiting, .attemptTimeout)])
    bench.stub.onAny(reply: .stalled)
    let call = Task { await bench.api.result(of: Request<String>.get("/").timeout(.seconds(outer))) }
    try await bench.stub.waitForExchanges(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(2))
    #expect(await call.value.error?.code == .timeout)
  }

  @Test("A deadline that passes before the exchange sends nothing")
  func passedBefore() async throws {
    let late = Doing { request, context, next in
      try await context.clock.sleep(until: context.now.advanced(by: .seconds(10)))
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(late, .retry)])
    bench.stub.onAny(reply: .text("ok"))
    let call = Task { await bench.api.result(of: Request<String>.get("/").timeout(.seconds(1))) }
    try await bench.clock.waitForSleepers(2)
    bench.clock.advance(by: .seconds(1))
    #expect(await call.value.error?.requestState == .notSent)
    #expect(bench.stub.exchanges.isEmpty)
  }

  @Test("Each of many calls with random deadlines ends at its own deadline", arguments: 0..<5)
  func many(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    bench.stub.onAny(reply: .stalled)
    let timeouts = (0..<100).map { _ in Int.random(in: 1...30, using: &generator) }
    let calls = timeouts.map { timeout in
      Task { [bench] in await bench.api.result(of: Request<String>.get("/").timeout(.seconds(timeout))) }
    }
    try await bench.stub.waitForExchanges(100)
    for second in 1...30 {
      try await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(1))
      for (timeout, call) in zip(timeouts, calls) where timeout == second {
        let error = try #require(await call.value.error)
        #expect(error.code == .timeout)
        #expect(error.trace.duration == .seconds(timeout))
      }
      let left = timeouts.count { $0 > second }
      #expect(bench.api.calls.count == left)
      if left == 0 { break }
    }
  }
}
