import Apus
import TestSupport
import Testing

@Suite("21: the latest call wins over waiting calls, with the stub and with sockets")
struct Capability21LatestWinsWaitingTests {
  @Test(
    "A superseded call in flight closes its connection, and its result is discarded",
    arguments: TestBackend.allCases)
  func inFlight(backend: TestBackend) async throws {
    try await backend.with {
      $0.path == "/old" ? .silence : .text("new")
    } body: { server in
      let api = server.client()
      let old = Task { await failure { try await api.send(Request<String>.get("/old").latestWins("search")) } }
      try await server.waitForRequests(1)
      let new = try await api.send(Request<String>.get("/new").latestWins("search"))
      #expect(new == "new")
      let error = try #require(await old.value)
      #expect(error.code == .cancelled && error.cancellation == .superseded)
      try await server.waitUntilLeft("/old")
      #expect(api.calls.isEmpty)
    }
  }

  @Test("A superseded queued call is never sent and uses no permit", arguments: TestBackend.allCases)
  func waitingForTurn(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let first = Task { try await api.send(Request<String>.get("/first")) }
      try await server.waitForRequests(1)
      var calls: [Task<CallError?, Never>] = []
      for number in 0..<10 {
        calls.append(
          Task { await failure { try await api.send(Request<String>.get("/\(number)").latestWins("search")) } })
        // Each call supersedes the previous call.
        try await waitWhile(api.calls.calls(id: "search").first?.serial ?? 0 < UInt64(number + 2))
      }
      for call in calls.dropLast() { #expect(await call.value?.cancellation == .superseded) }
      latch.open()
      _ = try await first.value
      #expect(await calls.last?.value == nil)
      #expect(server.paths == ["/first", "/9"])
      #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
    }
  }

  @Test("A call that is superseded between two attempts is not retried", arguments: TestBackend.allCases)
  func betweenAttempts(backend: TestBackend) async throws {
    let clock = StoppedClock()
    try await backend.with {
      $0.path == "/old" ? .status(503) : .text("new")
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let old = Task { await failure { try await api.send(Request<String>.get("/old").latestWins("search")) } }
      try await clock.waitForSleepers(1)
      let new = try await api.send(Request<String>.get("/new").latestWins("search"))
      #expect(new == "new")
      #expect(await old.value?.cancellation == .superseded)
      clock.advance(by: .seconds(60))
      #expect(server.paths == ["/old", "/new"])
      #expect(api.calls.isEmpty)
    }
  }

  @Test("The end of an older call does not affect the newer call", arguments: TestBackend.allCases)
  func order(backend: TestBackend) async throws {
    let (old, new) = (Latch(), Latch())
    try await backend.with {
      .text($0.path).after($0.path == "/old" ? old : new)
    } body: { server in
      let api = server.client()
      let first = Task { await failure { try await api.send(Request<String>.get("/old").latestWins("s")) } }
      try await server.waitForRequests(1)
      let second = Task { try await api.send(Request<String>.get("/new").latestWins("s")) }
      try await server.waitForRequests(2)
      old.open()
      #expect(await first.value?.cancellation == .superseded)
      #expect(api.calls.calls(id: "s").count == 1)
      new.open()
      let text = try await second.value
      #expect(text == "/new")
    }
  }
}
