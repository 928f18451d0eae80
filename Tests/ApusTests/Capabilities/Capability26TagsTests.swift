import Apus
import Testing

@Suite("26: only calls with a tag are paused or cancelled")
struct Capability26TagsTests {
  private func load(_ count: Int, by api: Client) -> [Task<CallError?, Never>] {
    (0..<count).map { number in
      Task { await failure { try await api.send(Request<String>.get("/image\(number)").tag("images")) } }
    }
  }

  @Test("Image calls are paused while a list loads, and continue when resumed", arguments: TestBackend.allCases)
  func hold(backend: TestBackend) async throws {
    let scheduler = Scheduler(.app)
    try await backend.with {
      .text($0.path)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      scheduler.pause("images")
      let images = load(8, by: api)
      try await waitWhile(scheduler.queuedCount < 8)
      #expect(api.calls.calls(tag: "images").allSatisfy { $0.phase == .waiting })
      let list = try await api.send(Request<String>.get("/list").tag("lists"))
      #expect(list == "/list")
      #expect(server.paths == ["/list"])
      scheduler.resume("images")
      for image in images { #expect(await image.value == nil) }
      #expect(server.requests.count == 9)
      #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
    }
  }

  @Test("pauseAll holds all new calls, and running calls continue", arguments: TestBackend.allCases)
  func holdEverything(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(.app))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let running = Task { try await api.send(Request<String>.get("/running")) }
      try await server.waitForRequests(1)
      scheduler.pauseAll()
      let held = load(3, by: api)
      try await waitWhile(scheduler.queuedCount < 3)
      latch.open()
      let text = try await running.value
      #expect(text == "/running")
      #expect(server.requests.count == 1)
      scheduler.resumeAll()
      for call in held { #expect(await call.value == nil) }
      #expect(server.requests.count == 4)
    }
  }

  @Test("Cancelling a tag cancels its calls, queued and in flight, and no other calls", arguments: TestBackend.allCases)
  func cancel(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 3, tags: ["images": 2]))
    let latch = Latch()
    try await backend.with {
      $0.path.hasPrefix("/image") ? .silence : .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let list = Task { try await api.send(Request<String>.get("/list").tag("lists")) }
      try await server.waitForRequests(1)
      let images = load(6, by: api)
      try await server.waitForRequests(3)
      try await waitWhile(scheduler.queuedCount < 4)
      let seen = server.paths.filter { $0.hasPrefix("/image") }
      #expect(api.calls.cancel(tag: "images") == 6)
      for image in images { #expect(await image.value?.cancellation == .requested) }
      for path in seen { try await server.waitUntilLeft(path) }
      #expect(api.calls.all.map(\.tags) == [["lists"]])
      latch.open()
      let text = try await list.value
      #expect(text == "/list")
      // The queued calls were never sent.
      #expect(server.requests.count == 3)
      #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
      // The tag can be used again.
      let again = try await api.send(Request<String>.get("/again").tag("images"))
      #expect(again == "/again")
    }
  }

  @Test("Held calls keep their deadlines and can be cancelled", arguments: TestBackend.allCases)
  func heldCalls(backend: TestBackend) async throws {
    let (clock, scheduler) = (StoppedClock(), Scheduler(.app))
    try await backend.with {
      .text($0.path)
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        clock.stop(&$0)
      }
      scheduler.pause("images")
      let late = Task {
        await failure { try await api.send(Request<String>.get("/late").tag("images").timeout(.seconds(5))) }
      }
      let cancelled = Task { await failure { try await api.send(Request<String>.get("/c").tag("images")) } }
      try await waitWhile(scheduler.queuedCount < 2)
      try await clock.waitForSleepers(1)
      cancelled.cancel()
      #expect(await cancelled.value?.code == .cancelled)
      clock.advance(by: .seconds(5))
      let error = try #require(await late.value)
      #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
      #expect(scheduler.queuedCount == 0)
      #expect(server.requests.isEmpty)
    }
  }
}
