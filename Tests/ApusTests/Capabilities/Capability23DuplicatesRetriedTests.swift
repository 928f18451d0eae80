import Apus
import TestSupport
import Testing

@Suite("23: calls with the same id, retried and queued, with the stub and with sockets")
struct Capability23DuplicatesRetriedTests {
  private typealias Calls = [Task<String, any Error>]

  private let joined = Request<String>.get("/a").id("a", onDuplicate: .coalesce)

  /// Performs calls and waits until all but the first have joined the first.
  private func join(_ count: Int, by api: Client, after condition: () async throws -> Void) async throws -> Calls {
    var calls: Calls = [Task { [joined] in try await api.send(joined) }]
    try await condition()
    for _ in 1..<count { calls.append(Task { [joined] in try await api.send(joined) }) }
    try await waitWhile(api.calls.all.count(where: \.hasJoined) < count - 1)
    return calls
  }

  @Test(
    "Joined calls share one exchange, one permit and all attempts, and each gets the response",
    arguments: TestBackend.allCases)
  func attempts(backend: TestBackend) async throws {
    let (clock, scheduler) = (StoppedClock(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      $0.number == 0 ? .status(503) : .text("there")
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        clock.stop(&$0)
      }
      // The other calls join during the first call's retry delay.
      let calls = try await join(10, by: api) { try await clock.waitForSleepers(1) }
      #expect(scheduler.runningCount == 0)
      clock.advanceToNextWake()
      for call in calls {
        let text = try await call.value
        #expect(text == "there")
      }
      #expect(server.requests.count == 2)
      #expect(api.calls.isEmpty && scheduler.runningCount == 0)
    }
  }

  @Test("Calls that join a queued exchange share its permit", arguments: TestBackend.allCases)
  func waiting(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let other = Task { try await api.send(Request<String>.get("/other")) }
      try await server.waitForRequests(1)
      let calls = try await join(5, by: api) { try await waitWhile(scheduler.queuedCount < 1) }
      #expect(scheduler.queuedCount == 1)
      latch.open()
      for call in calls {
        let text = try await call.value
        #expect(text == "/a")
      }
      _ = try await other.value
      #expect(server.paths == ["/other", "/a"])
    }
  }

  @Test(
    "A joined caller's deadline or cancellation ends only that caller; the end of the last caller ends the exchange",
    arguments: TestBackend.allCases)
  func leaving(backend: TestBackend) async throws {
    let clock = StoppedClock()
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let first = Task { [joined] in await failure { try await api.send(joined) } }
      try await server.waitForRequests(1)
      let short = Task { [joined] in await failure { try await api.send(joined.timeout(.seconds(5))) } }
      let long = Task { [joined] in await failure { try await api.send(joined.timeout(.seconds(50))) } }
      try await waitWhile(api.calls.all.count(where: \.hasJoined) < 2)
      first.cancel()
      #expect(await first.value?.code == .cancelled)
      clock.advance(by: .seconds(5))
      #expect(await short.value?.code == .timeout)
      #expect(api.calls.count == 1)
      clock.advance(by: .seconds(45))
      #expect(await long.value?.code == .timeout)
      try await server.waitUntilLeft("/a")
      #expect(server.requests.count == 1)
      #expect(api.calls.isEmpty)
    }
  }

  @Test("Equal requests share an exchange without an id if they opt in", arguments: TestBackend.allCases)
  func coalesced(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let same = Request<String>.get("/a").coalesced()
      let first = Task { try await api.send(same) }
      try await server.waitForRequests(1)
      let others = (0..<9).map { _ in Task { try await api.send(same) } }
      try await waitWhile(api.calls.all.count(where: \.hasJoined) < 9)
      // A different request, and a request that does not opt in, have separate exchanges.
      let another = Task { try await api.send(Request<String>.get("/b").coalesced()) }
      let alone = Task { try await api.send(Request<String>.get("/a")) }
      try await waitWhile(scheduler.queuedCount < 2)
      latch.open()
      for call in [first] + others + [alone] {
        let text = try await call.value
        #expect(text == "/a")
      }
      _ = try await another.value
      #expect(server.paths.sorted() == ["/a", "/a", "/b"])
      #expect(api.calls.isEmpty && scheduler.runningCount == 0)
    }
  }

  @Test(
    "Calls still share an exchange during a retry delay, even if the previous response must not be stored",
    arguments: TestBackend.allCases)
  func coalescedInPause(backend: TestBackend) async throws {
    let clock = StoppedClock()
    try await backend.with {
      $0.number == 0 ? .status(503, ["Cache-Control": "no-store"]) : .text("there")
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let same = Request<String>.get("/a").coalesced()
      let first = Task { try await api.send(same) }
      try await clock.waitForSleepers(1)
      let second = Task { try await api.send(same) }
      try await waitWhile(!api.calls.all.contains(where: \.hasJoined) && server.requests.count < 2)
      clock.advanceToNextWake()
      for call in [first, second] {
        let text = try await call.value
        #expect(text == "there")
      }
      #expect(server.requests.count == 2)
      #expect(api.calls.isEmpty)
    }
  }

  @Test(
    "Failed attempts after the first call has left are reported to the remaining calls", arguments: TestBackend.allCases
  )
  func attemptsAfterLeaving(backend: TestBackend) async throws {
    let clock = StoppedClock()
    try await backend.with { _ in
      .status(503)
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let first = Task { [joined] in await failure { try await api.send(joined) } }
      try await clock.waitForSleepers(1)
      let other = Task { [joined] in await failure { try await api.send(joined) } }
      try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
      first.cancel()
      #expect(await first.value?.failedAttempts.map(\.attempt) == [1])
      for _ in 0..<2 {
        try await clock.waitForSleepers(1)
        clock.advanceToNextWake()
      }
      #expect(await other.value?.failedAttempts.map(\.attempt) == [1, 2, 3])
      #expect(server.requests.count == 3)
    }
  }

  @Test(
    "The duplicate policies refuse, cancelPrevious and allow also apply to queued calls",
    arguments: TestBackend.allCases,
    [DuplicatePolicy.refuse, .cancelPrevious, .allow])
  func others(backend: TestBackend, policy: DuplicatePolicy) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let other = Task { try await api.send(Request<String>.get("/other")) }
      try await server.waitForRequests(1)
      let request = Request<String>.get("/a").id("a", onDuplicate: policy)
      let older = Task { await failure { try await api.send(request) } }
      try await waitWhile(scheduler.queuedCount < 1)
      let newer = Task { await failure { try await api.send(request) } }
      switch policy {
      case .refuse: #expect(await newer.value?.code == .refused)
      case .cancelPrevious: #expect(await older.value?.cancellation == .superseded)
      case .allow, .coalesce: try await waitWhile(scheduler.queuedCount < 2)
      }
      latch.open()
      _ = try await other.value
      #expect(await older.value?.code == (policy == .cancelPrevious ? .cancelled : nil))
      #expect(await newer.value?.code == (policy == .refuse ? .refused : nil))
      #expect(server.requests.count == (policy == .allow ? 3 : 2))
    }
  }
}
