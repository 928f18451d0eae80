import Apus
import ApusTesting
import HTTPTypes
import Testing

/// What tests of an app need, with the public API only.
@Suite("38: an app's tests need no network, no sleeps and no luck")
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

  @Test("A stub answers by method, target and endpoint, in order, and a call it does not know fails")
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

  @Test("In virtual time a minute passes immediately, and never by itself")
  func time() async throws {
    let (stub, clock) = (StubTransport(), ManualClock())
    stub.onAny(reply: .text("late").after(.seconds(59)))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.settings.runtime.clock = clock
      $0.timeout = .seconds(60)
      $0.attemptTimeout = nil
    }
    async let answer = api.response(to: Request<String>.get("/a"))
    try await stub.waitForExchanges(1)
    // The response and the deadline.
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(59))
    let response = try await answer
    #expect(response.value == "late")
    #expect(response.trace.events.last?.instant == MonotonicInstant(sinceStart: .seconds(59)))
  }

  /// Returns how a call ends that is cancelled after a number of jobs, and how many jobs it has.
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
