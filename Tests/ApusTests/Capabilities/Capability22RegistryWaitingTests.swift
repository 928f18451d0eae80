import Apus
import Testing

@Suite("22: the registered calls, including waiting calls, with the stub and with sockets")
struct Capability22RegistryWaitingTests {
  private struct GetImage: Endpoint {
    let id: Int
    var request: Request<String> { .get("/images/\(id)") }
  }

  private func start<E: Endpoint>(_ endpoint: E, by api: Client) -> Task<CallError?, Never> where E.Value == String {
    Task { await failure { try await api.send(endpoint) } }
  }

  @Test(
    "Queued calls are listed, found and cancelled like calls in flight", arguments: TestBackend.allCases)
  func waiting(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 1))
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let running = start(Request<String>.get("/running").id("running", onDuplicate: .allow), by: api)
      try await server.waitForRequests(1)
      let byID = start(Request<String>.get("/id").id("one", onDuplicate: .allow), by: api)
      let byTag = start(Request<String>.get("/tag").tag("images"), by: api)
      let byType = start(GetImage(id: 1), by: api)
      let byRule = start(Request<String>.get("/rule"), by: api)
      try await waitWhile(scheduler.queuedCount < 4)
      #expect(api.calls.count == 5)
      #expect(api.calls.all.count { $0.phase == .waiting } == 4)
      #expect(api.calls.calls(endpoint: GetImage.self).map(\.endpoint.template) == ["/images/{}"])
      #expect(api.calls.cancel(id: "one") == 1)
      #expect(api.calls.cancel(tag: "images") == 1)
      #expect(api.calls.cancel(endpoint: GetImage.self) == 1)
      #expect(api.calls.cancel { $0.endpoint.template == "/rule" } == 1)
      for call in [byID, byTag, byType, byRule] {
        let error = try #require(await call.value)
        #expect(error.cancellation == .requested && error.requestState == .notSent)
      }
      #expect(api.calls.all.map(\.id) == ["running"])
      #expect(scheduler.runningCount == 1 && scheduler.queuedCount == 0)
      #expect(api.calls.cancelAll() == 1)
      #expect(await running.value?.cancellation == .requested)
      try await server.waitUntilLeft("/running")
      #expect(api.calls.isEmpty && scheduler.runningCount == 0)
      #expect(server.requests.count == 1)
    }
  }

  @Test(
    "A call between two attempts is listed as waiting, with its earlier attempts",
    arguments: TestBackend.allCases)
  func betweenAttempts(backend: TestBackend) async throws {
    let clock = StoppedClock()
    try await backend.with {
      $0.number == 0 ? .status(503) : .text("there")
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let call = start(Request<String>.get("/a"), by: api)
      try await clock.waitForSleepers(1)
      let entry = try #require(api.calls.all.first)
      #expect(entry.phase == .waiting && !entry.isEnded)
      #expect(entry.trace.failedAttempts.map(\.cause) == [.status(503)])
      clock.advanceToNextWake()
      #expect(await call.value == nil)
      #expect(entry.isEnded && api.calls.isEmpty)
      #expect(server.requests.count == 2)
    }
  }

  /// The end of a call.
  enum End: String, CaseIterable {
    case success, refusal, failure, cancel, deadline, noRoom, tooFast

    func scriptedReply(_ request: ReceivedRequest) -> ScriptedReply {
      switch self {
      case .success, .noRoom, .tooFast: .text("x")
      case .refusal: .status(404)
      case .failure: .broken
      case .cancel, .deadline: .silence
      }
    }
  }

  @Test(
    "A call is removed from the registry however it ends, and its id can be reused immediately",
    arguments: TestBackend.allCases,
    End.allCases)
  func empty(backend: TestBackend, end: End) async throws {
    let clock = StoppedClock()
    try await backend.with {
      end.scriptedReply($0)
    } body: { server in
      let api = server.client {
        clock.stop(&$0)
        $0.retry = .none
        var limits = ConcurrencyLimits()
        if end == .noRoom { limits.queueCapacity = 0 }
        let scheduler = Scheduler(limits)
        if end == .noRoom { scheduler.pauseAll() }
        $0.scheduler = scheduler
        if end == .tooFast { $0.rateLimiter = RateLimiter(RateLimit(1, per: .seconds(3600))) }
      }
      if end == .tooFast { _ = try await api.send(Request<String>.get("/before")) }
      for round in 0..<3 {
        let request = Request<String>.post("/\(round)").timeout(.seconds(5)).id("same", onDuplicate: .refuse)
        let call = start(request, by: api)
        if end == .cancel || end == .deadline { try await server.waitForRequests(round + 1) }
        if end == .cancel { api.calls.cancel(id: "same") }
        if end == .deadline { clock.advance(by: .seconds(5)) }
        let error = await call.value
        #expect((error == nil) == (end == .success))
        if end == .noRoom || end == .tooFast { #expect(error?.underlying != nil) }
        #expect(api.calls.isEmpty && api.calls.calls(id: "same").isEmpty)
      }
    }
  }
}
