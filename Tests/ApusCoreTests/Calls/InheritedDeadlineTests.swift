import ApusCore
import ApusTesting
import HTTPTypes
import Testing

/// Keeps the deadline that calls begin with, by the path of their endpoint.
private struct DeadlineLog: Middleware {
  struct Entry: Sendable, Hashable {
    let path: String
    let deadline: MonotonicInstant?
  }

  let log = Log<Entry>()

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    log.add(Entry(path: context.endpoint.template, deadline: context.deadline))
    return try await next(request, context: context)
  }
}

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

@Suite("The deadline that calls inherit")
struct InheritedDeadlineTests {
  private let bench = CallBench()
  private let request = Request<String>.get("/")

  /// Lets time pass as soon as a call waits for its answer.
  private func pass(_ seconds: Int) async throws {
    try await bench.stub.waitForExchanges(1)
    bench.clock.advance(by: .seconds(seconds))
  }

  @Test("calls made one after the other share the limit of the work they are made in")
  func sequence() async throws {
    bench.stub.onAny(answer: .text("ok").after(.seconds(2)))
    let work = Task { [bench, request] () -> [Result<String, CallError>] in
      await bench.api.withDeadline(.seconds(5)) {
        var results: [Result<String, CallError>] = []
        for _ in 0..<3 { results.append(await bench.api.result(of: request)) }
        return results
      }
    }
    for seconds in [2, 2, 1] {
      // The timer, and the stub.
      try await bench.clock.waitForSleepers(2)
      bench.clock.advance(by: .seconds(seconds))
    }
    let results = await work.value
    #expect(results.map { $0.error?.code } == [nil, nil, .timeout])
    #expect(results.last?.error?.cancellation == .deadline(.awaitingHead))
    #expect(bench.isClean)
  }

  @Test("a call that begins when the time is up sends nothing, and says so", arguments: [0, -1, 5])
  func passed(seconds: Int) async throws {
    bench.stub.onAny(answer: .text("ok"))
    let result = await bench.api.withDeadline(.seconds(seconds)) { [bench, request] in
      bench.clock.advance(by: .seconds(5))
      return await bench.api.result(of: request)
    }
    let error = try #require(result.error)
    #expect(error.code == .timeout && error.requestState == .notSent)
    #expect(error.cancellation == .deadline(.waiting))
    #expect(bench.stub.exchanges.isEmpty)
    #expect(bench.isClean)
  }

  @Test("the nearer limit counts: the call's own, or that of the work", arguments: [(3, 3), (9, 5)])
  func nearer(own: Int, expected: Int) async throws {
    bench.stub.onAny(answer: .stalled)
    let call = Task { [bench, request] in
      await bench.api.withDeadline(.seconds(5)) {
        await bench.api.result(of: request.timeout(.seconds(own)))
      }
    }
    try await pass(expected)
    let error = try #require(await call.value.error)
    #expect(error.code == .timeout && error.trace.duration == .seconds(expected))
  }

  @Test("work inside of other work has the nearer limit of both", arguments: [(2, 10), (10, 2)])
  func nested(outer: Int, inner: Int) async throws {
    bench.stub.onAny(answer: .stalled)
    let call = Task { [bench, request] in
      await bench.api.withDeadline(.seconds(outer)) {
        await bench.api.withDeadline(.seconds(inner)) { await bench.api.result(of: request) }
      }
    }
    try await pass(2)
    #expect(await call.value.error?.code == .timeout)
  }

  @Test("streamed calls, which have no limit of their own, inherit one as well")
  func streamed() async throws {
    bench.stub.onAny(answer: .pieces(["a"]).stalled(after: 1))
    let call = Task { [bench, request] in
      try await bench.api.withDeadline(.seconds(5)) {
        try await bench.api.withResponse(to: request) { while try await $0.next() != nil {} }
      }
    }
    try await pass(5)
    let result = await call.result
    let error = #expect(throws: CallError.self) { try result.get() }
    #expect(error?.code == .timeout)
    #expect(bench.isClean)
  }

  @Test("calls made in the closure of a streamed one end at its deadline, those made behind it do not")
  func closure() async throws {
    let log = DeadlineLog()
    let bench = CallBench(middlewares: [(log, .scheduling)])
    bench.stub.on(.get, "/stream", answer: .pieces(["a"]))
    bench.stub.on(.get, "/inner", answer: .text("ok"))
    let stream = Request<String>.get("/stream")
    for request in [stream.timeout(.seconds(3)), stream] {
      try await bench.api.withResponse(to: request) { _ in
        _ = try await bench.api.send(Request<String>.get("/inner"))
      }
    }
    #expect(Deadline.current == nil)
    #expect(log.log.all.map(\.deadline) == [at(3), at(3), nil, nil])
  }

  @Test("typed errors stay typed")
  func typed() async {
    bench.stub.onAny(answer: .status(404))
    do throws(CallError) {
      _ = try await bench.api.withDeadline(.seconds(5)) { () async throws(CallError) -> String in
        try await bench.api.send(request)
      }
      Issue.record("404 is an error")
    } catch {
      #expect(error.status == 404)
    }
  }

  @Test("the work runs where its caller runs")
  @MainActor
  func isolation() async throws {
    bench.stub.onAny(answer: .pieces(["a"]))
    await withDeadline(.seconds(60)) {
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
    }
    try await bench.api.withResponse(to: request.timeout(.seconds(3))) { _ in MainActor.assertIsolated() }
  }
}

@Suite("How far a deadline reaches")
struct DeadlineReachTests {
  private let clock = ManualClock()

  @Test("tasks made in the work have it, detached ones do not, and what outlives the work has it no more")
  func tasks() async {
    let gate = Gate()
    let task = await withDeadline(.seconds(60), on: clock) { () async -> Task<[Duration?], Never> in
      async let child = Deadline.current?.remaining
      #expect(await child == .seconds(60))
      let detached = await Task.detached { Deadline.current?.remaining }.value
      #expect(detached == nil)
      return Task {
        let before = Deadline.current?.remaining
        try? await gate.wait()
        return [before, Deadline.current?.remaining]
      }
    }
    gate.open()
    #expect(await task.value.last == .some(nil))
  }

  @Test("what outlives work inside of other work is bound by the other")
  func outerStays() async {
    let gate = Gate()
    await withDeadline(.seconds(60), on: clock) { () async -> Void in
      let task = await withDeadline(.seconds(5), on: clock) { () async -> Task<Duration?, Never> in
        Task {
          try? await gate.wait()
          return Deadline.current?.remaining
        }
      }
      gate.open()
      #expect(await task.value == .seconds(60))
    }
  }

  @Test("work that outlives what it began in is bound by itself alone")
  func innerOutlivesOuter() async {
    let (begun, gate) = (Gate(), Gate())
    let task = await withDeadline(.seconds(5), on: clock) { [clock] () async -> Task<[Duration?], Never> in
      let task = Task {
        await withDeadline(.seconds(60), on: clock) { () async -> [Duration?] in
          let before = Deadline.current?.remaining
          begun.open()
          try? await gate.wait()
          return [before, Deadline.current?.remaining]
        }
      }
      try? await begun.wait()
      return task
    }
    gate.open()
    #expect(await task.value == [.seconds(5), .seconds(60)])
  }

  @Test("a client with another clock counts on with what was left")
  func clocks() async throws {
    let log = DeadlineLog()
    let bench = CallBench(middlewares: [(log, .scheduling)])
    bench.stub.onAny(answer: .text("ok"))
    bench.clock.advance(by: .seconds(100))
    clock.advance(by: .seconds(7))
    _ = try await withDeadline(.seconds(5), on: clock) { [clock] in
      clock.advance(by: .seconds(1))
      return try await bench.api.send(Request<String>.get("/"))
    }
    #expect(log.log.all.map(\.deadline) == [at(104)])
    _ = try await withDeadline(.seconds(3600)) { try await bench.api.send(Request<String>.get("/")) }
    let last = try #require(log.log.all.last?.deadline)
    #expect(last > at(100) && last <= at(3700))
  }

  @Test("an exchange that calls share has nobody's")
  func joined() async throws {
    let seen = Log<Bool>()
    let looking = Doing { request, context, next in
      seen.add(Deadline.current == nil && context.deadline == nil && context.nearestDeadline == nil)
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(looking, .scheduling)])
    bench.stub.onAny(answer: .text("ok"))
    _ = try await bench.api.withDeadline(.seconds(5)) {
      try await bench.api.send(Request<String>.get("/").id("one", whenRunning: .join))
    }
    #expect(seen.all == [true])
  }

  @Test(
    "calls that a middleware makes for a call end with it, or with its attempt; those for others do not",
    arguments: [nil, 2] as [Int?])
  func middlewares(attempt: Int?) async throws {
    let log = DeadlineLog()
    let other = CallBench(middlewares: [(log, .scheduling)])
    other.stub.onAny(answer: .text("ok"))
    let making = Doing { request, context, next in
      guard context.endpoint.template == "/" else { return try await next(request, context: context) }
      var context = context
      if let attempt { context.limitAttempt(to: context.now.advanced(by: .seconds(attempt))) }
      _ = try await context.client.send(Request<String>.get("/own"))
      let shared = context.sharedClient
      _ = try await shared.send(Request<String>.get("/shared"))
      _ = try await shared.withDeadline(.seconds(1)) { try await shared.send(Request<String>.get("/shared/own")) }
      _ = try await context.passingDeadline { try await other.api.send(Request<String>.get("/other")) }
      _ = try await other.api.send(Request<String>.get("/free"))
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(making, .attemptDeadline), (log, .rateLimit)])
    bench.stub.onAny(answer: .text("ok"))
    _ = try await bench.api.withDeadline(.seconds(10)) {
      try await bench.api.send(Request<String>.get("/").timeout(.seconds(3)))
    }
    let inner = at(attempt ?? 3)
    #expect(log.log.all.map(\.path) == ["/own", "/shared", "/shared/own", "/other", "/free", "/"])
    #expect(log.log.all.map(\.deadline) == [inner, nil, at(1), inner, at(10), at(3)])
  }
}
