import ApusCore
import ApusTesting
import HTTPTypes
import Testing

/// Records the deadline that each call starts with, and its path.
private struct DeadlineLog: Middleware {
  struct Entry: Sendable, Hashable {
    let path: String
    let deadline: MonotonicInstant?
  }

  let log = Log<Entry>()

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    log.add(Entry(path: context.call.endpoint.template, deadline: context.deadline))
    return try await next(request, context: context)
  }
}

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

@Suite("Inherited deadlines")
struct InheritedDeadlineTests {
  private let bench = CallBench()
  private let request = Request<String>.get("/")

  /// Advances the clock once a call waits for its response.
  private func pass(_ seconds: Int) async throws {
    try await bench.stub.waitForExchanges(1)
    bench.clock.advance(by: .seconds(seconds))
  }

  @Test("Sequential calls share the deadline of the work they belong to")
  func sequence() async throws {
    bench.stub.onAny(reply: .text("ok").after(.seconds(2)))
    let work = Task { [bench, request] () -> [Result<String, CallError>] in
      await bench.api.withDeadline(.seconds(5)) {
        var results: [Result<String, CallError>] = []
        for _ in 0..<3 { results.append(await bench.api.result(of: request)) }
        return results
      }
    }
    for seconds in [2, 2, 1] {
      // One sleeper is the timer of the deadline. The other sleeper is the delay of the stub.
      try await bench.clock.waitForSleepers(2)
      bench.clock.advance(by: .seconds(seconds))
    }
    let results = await work.value
    #expect(results.map { $0.error?.code } == [nil, nil, .timeout])
    #expect(results.last?.error?.cancellation == .deadline(.awaitingHead))
    #expect(bench.isClean)
  }

  @Test("A call that starts after the deadline sends nothing", arguments: [0, -1, 5])
  func passed(seconds: Int) async throws {
    bench.stub.onAny(reply: .text("ok"))
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

  @Test("The nearer deadline applies: that of the call or that of the work", arguments: [(3, 3), (9, 5)])
  func nearer(own: Int, expected: Int) async throws {
    bench.stub.onAny(reply: .stalled)
    let call = Task { [bench, request] in
      await bench.api.withDeadline(.seconds(5)) {
        await bench.api.result(of: request.timeout(.seconds(own)))
      }
    }
    try await pass(expected)
    let error = try #require(await call.value.error)
    #expect(error.code == .timeout && error.trace.duration == .seconds(expected))
  }

  @Test("Nested work has the nearer of both deadlines", arguments: [(2, 10), (10, 2)])
  func nested(outer: Int, inner: Int) async throws {
    bench.stub.onAny(reply: .stalled)
    let call = Task { [bench, request] in
      await bench.api.withDeadline(.seconds(outer)) {
        await bench.api.withDeadline(.seconds(inner)) { await bench.api.result(of: request) }
      }
    }
    try await pass(2)
    #expect(await call.value.error?.code == .timeout)
  }

  @Test("Streamed calls, which have no default timeout, inherit a deadline too")
  func streamed() async throws {
    bench.stub.onAny(reply: .pieces(["a"]).stalled(after: 1))
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

  @Test("Calls inside the closure of a streamed call inherit the streamed call's deadline; later calls do not")
  func closure() async throws {
    let log = DeadlineLog()
    let bench = CallBench(middlewares: [(log, .scheduling)])
    bench.stub.on(.get, "/stream", reply: .pieces(["a"]))
    bench.stub.on(.get, "/inner", reply: .text("ok"))
    let stream = Request<String>.get("/stream")
    for request in [stream.timeout(.seconds(3)), stream] {
      try await bench.api.withResponse(to: request) { _ in
        _ = try await bench.api.send(Request<String>.get("/inner"))
      }
    }
    #expect(Deadline.current == nil)
    #expect(log.log.all.map(\.deadline) == [at(3), at(3), nil, nil])
  }

  @Test("withDeadline rethrows a typed error with its type")
  func typed() async {
    bench.stub.onAny(reply: .status(404))
    do throws(CallError) {
      _ = try await bench.api.withDeadline(.seconds(5)) { () async throws(CallError) -> String in
        try await bench.api.send(request)
      }
      Issue.record("404 is an error")
    } catch {
      #expect(error.status == 404)
    }
  }

  @Test("The closures of withDeadline and withResponse run on the caller's actor")
  @MainActor
  func isolation() async throws {
    bench.stub.onAny(reply: .pieces(["a"]))
    await withDeadline(.seconds(60)) {
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
    }
    try await bench.api.withResponse(to: request.timeout(.seconds(3))) { _ in MainActor.assertIsolated() }
  }
}

@Suite("The scope of a deadline")
struct DeadlineReachTests {
  private let clock = ManualClock(.manual)

  @Test("Child tasks inherit the deadline; detached tasks and tasks that outlive the work have no deadline")
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

  @Test("A task that outlives nested work has only the outer deadline")
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

  @Test("Work that outlives the outer work has only its own deadline")
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

  @Test("A client with another clock applies the remaining time on that clock")
  func clocks() async throws {
    let log = DeadlineLog()
    let bench = CallBench(middlewares: [(log, .scheduling)])
    bench.stub.onAny(reply: .text("ok"))
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

  @Test("A shared exchange has no deadline")
  func joined() async throws {
    let seen = Log<Bool>()
    let looking = Doing { request, context, next in
      seen.add(Deadline.current == nil && context.deadline == nil && context.nearestDeadline == nil)
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(looking, .scheduling)])
    bench.stub.onAny(reply: .text("ok"))
    _ = try await bench.api.withDeadline(.seconds(5)) {
      try await bench.api.send(Request<String>.get("/").id("one", onDuplicate: .coalesce))
    }
    #expect(seen.all == [true])
  }

  @Test(
    "Calls through context.client inherit the deadline of the attempt or the call; calls through sharedClient do not",
    arguments: [nil, 2] as [Int?])
  func middlewares(attempt: Int?) async throws {
    let log = DeadlineLog()
    let other = CallBench(middlewares: [(log, .scheduling)])
    other.stub.onAny(reply: .text("ok"))
    let making = Doing { request, context, next in
      guard context.call.endpoint.template == "/" else { return try await next(request, context: context) }
      var context = context
      if let attempt { context.limitAttempt(to: context.now.advanced(by: .seconds(attempt))) }
      _ = try await context.client.send(Request<String>.get("/own"))
      let shared = context.sharedClient
      _ = try await shared.send(Request<String>.get("/shared"))
      _ = try await shared.withDeadline(.seconds(1)) { try await shared.send(Request<String>.get("/shared/own")) }
      _ = try await other.api.send(Request<String>.get("/free"))
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(making, .attemptTimeout), (log, .rateLimit)])
    bench.stub.onAny(reply: .text("ok"))
    _ = try await bench.api.withDeadline(.seconds(10)) {
      try await bench.api.send(Request<String>.get("/").timeout(.seconds(3)))
    }
    let inner = at(attempt ?? 3)
    #expect(log.log.all.map(\.path) == ["/own", "/shared", "/shared/own", "/free", "/"])
    #expect(log.log.all.map(\.deadline) == [inner, nil, at(1), at(10), at(3)])
  }
}
