import Apus
import ApusTesting
import HTTPTypes
import Testing

/// Typical tests of an app, with the public API only.
@Suite("38: tests of an app need no network and no sleeps, and are deterministic")
struct Capability38TestKitTests {
  @Test("An endpoint's request is tested without sending it")
  func message() async throws {
    let api = Client(baseURL: "https://example.test/v1", transport: StubTransport()) {
      $0.authentication = .bearer(MemoryCredentialsStore(token: "s3cr3t"))
    }
    let message = try await api.message(for: .post("/users", query: ["a": 1], content: .json(["name": "Ann"])))
    #expect(message.head.method == .post)
    #expect(message.url == "https://example.test/v1/users?a=1")
    #expect(message.head.headerFields[.authorization] == "Bearer s3cr3t")
    #expect(message.curl().hasPrefix("curl "))
    #expect(!message.curl().contains("s3cr3t"))
  }

  @Test("A stub replies by method, target and endpoint, in order, and fails unmatched calls")
  func stub() async throws {
    let stub = StubTransport()
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.retry = .none }
    stub.on(.get, "/a", replies: [.status(503), .text("a")])
    stub.on(template: "GET /users/{}", reply: .text("user"))
    #expect(await failure { try await api.send(Request<String>.get("/a")) }?.status == 503)
    #expect(try await api.send(Request<String>.get("/a")) == "a")
    #expect(try await api.send(Request<String>.get("/users/\(7)")) == "user")
    #expect(await failure { try await api.send(.ping) }?.code == .invalidRequest)
    #expect(stub.exchanges.map(\.target) == ["/a", "/a", "/users/7", "/ping"])
  }

  @Test("A test simply awaits a call that fails twice: its retry delays pass immediately")
  func retry() async throws {
    let (stub, clock) = (StubTransport(), ManualClock())
    stub.on(.get, "/a", replies: [.status(503), .status(503, fields: ["Retry-After": "20"]), .text("a")])
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.clock = clock }
    #expect(try await api.send(Request<String>.get("/a")) == "a")
    #expect(stub.exchanges.map(\.status) == [503, 503, 200])
    #expect(clock.now >= MonotonicInstant(sinceStart: .seconds(20)))
  }

  @Test("Retries of many concurrent calls run without delay under a test clock, and no call times out")
  func concurrentRetries() async throws {
    let (stub, clock) = (StubTransport(), ManualClock())
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.apply(.app)
      $0.clock = clock
      $0.retryBudget = .unlimited
      $0.breaker = nil
    }
    for number in 0..<30 {
      stub.on(.get, "/\(number)", replies: [.status(503, fields: ["Retry-After": "9"]), .status(503), .text("a")])
    }
    try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<30 { group.addTask { try await api.send(Request<String>.get("/\(number)")) } }
      for try await text in group { #expect(text == "a") }
    }
    #expect(stub.exchanges.count == 90)
  }

  @Test("A reply that never arrives times out without a wait, before its head and inside its content")
  func stalled() async throws {
    let (stub, clock) = (StubTransport(), ManualClock())
    stub.on(.get, "/a", reply: .stalled)
    stub.on(.get, "/b", reply: .pieces(["a", "b"]).stalled(after: 1))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.clock = clock
      $0.retry = .none
    }
    for path: RequestPath in ["/a", "/b"] {
      let error = await failure { try await api.send(Request<String>.get(path).timeout(.seconds(5))) }
      #expect(error?.code == .timeout)
    }
    #expect(clock.now == MonotonicInstant(sinceStart: .seconds(10)))
  }

  @Test("While a call waits for a gate, delays of other calls do not time it out")
  func held() async throws {
    let (stub, clock, gate) = (StubTransport(), ManualClock(), Gate())
    stub.on(.get, "/held", reply: .text("held").waiting(for: gate))
    stub.on(.get, "/busy", replies: [.status(503, fields: ["Retry-After": "3600"]), .text("done")])
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.clock = clock
      $0.timeout = nil
      $0.retry.serverDelay = .honored(upTo: .seconds(7200))
    }
    async let busy = api.send(Request<String>.get("/busy"))
    async let held = api.send(Request<String>.get("/held").timeout(.seconds(60)))
    try await stub.wait { $0.contains { $0.target == "/held" } && $0.contains { $0.status == 503 } }
    // The sleepers are the timeouts of the waiting call and the delay of the other call.
    try await clock.waitForSleepers(2)
    #expect(clock.now == MonotonicInstant(sinceStart: .zero))
    gate.open()
    #expect(try await held == "held")
    #expect(try await busy == "done")
    #expect(clock.now >= MonotonicInstant(sinceStart: .seconds(3600)))
  }

  @Test("With a manual clock a minute passes immediately, and only on request")
  func time() async throws {
    let (stub, clock) = (StubTransport(), ManualClock(.manual))
    stub.onAny(reply: .text("late").after(.seconds(59)))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.clock = clock
      $0.timeout = .seconds(60)
      $0.attemptTimeout = nil
    }
    async let answer = api.response(to: Request<String>.get("/a"))
    try await stub.waitForExchanges(1)
    // The sleepers are the response and the deadline.
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(59))
    let response = try await answer
    #expect(response.value == "late")
    #expect(response.trace.events.last?.instant == MonotonicInstant(sinceStart: .seconds(59)))
  }

  /// Cancels a call after a number of jobs. Returns the code of its error, and its total number of jobs.
  private func outcome(cancelledAfter jobs: Int) async -> (CallError.Code?, jobs: Int) {
    let (stub, executor) = (StubTransport(), ManualExecutor())
    stub.onAny(reply: .text("x"))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.settings.runtime.executor = executor
      $0.attemptTimeout = nil
    }
    let call = Task(executorPreference: executor) { await failure { try await api.send(Request<String>.get("/a")) } }
    executor.run(jobs: jobs)
    api.calls.cancelAll()
    let code = await executor.finish(call).get()?.code
    return (code, executor.jobCount)
  }

  @Test("A call can be cancelled before each of its jobs, reproducibly")
  func jobs() async {
    let undisturbed = await outcome(cancelledAfter: .max)
    #expect(undisturbed.0 == nil)
    #expect(undisturbed.jobs > 1)
    let codes = await outcomes(undisturbed.jobs)
    #expect(codes.contains(.cancelled))
    #expect(codes == (await outcomes(undisturbed.jobs)))
  }

  private func outcomes(_ jobs: Int) async -> [CallError.Code?] {
    var codes: [CallError.Code?] = []
    for step in 0..<jobs { codes.append(await outcome(cancelledAfter: step).0) }
    return codes
  }

  @Test("Ids and random numbers are controlled by the test")
  func numbers() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    func trace() async throws -> [String] {
      let api = Client(baseURL: "https://example.test", transport: stub) {
        $0.settings.runtime.nextSerial = SerialNumbers(from: 100).next
        $0.settings.runtime.random = SeededGenerator.source(seed: 7)
        $0.customizePipeline = { $0.insert(Dice(), .before(.transport)) }
      }
      return [
        "\(try await api.response(to: .ping).trace.id)",
        stub.exchanges.last?.fields.first { $0.name.canonicalName == "x-dice" }?.value ?? "none",
      ]
    }
    let first = try await trace()
    #expect(first[0].contains("100"))
    #expect(UInt64(first[1]) != nil)
    #expect(first == (try await trace()))
  }

  private struct Dice: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var request = request
      try request.addField(RawField("X-Dice", "\(context.random())"))
      return try await next(request, context: context)
    }
  }
}
