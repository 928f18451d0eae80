import Apus
import Testing

@Suite("25: priorities with ageing")
struct Capability25PrioritiesTests {
  /// Performs calls of a client in order.
  private final class Caller {
    let api: Client
    let scheduler: Scheduler
    private(set) var calls: [Task<String, any Error>] = []

    init(_ api: Client, _ scheduler: Scheduler) {
      (self.api, self.scheduler) = (api, scheduler)
    }

    /// Starts a call and waits until it is queued.
    func enqueue(_ path: RequestPath, _ priority: CallPriority) async throws {
      let waiting = scheduler.queuedCount
      start(path, priority)
      try await waitWhile(scheduler.queuedCount < waiting + 1)
    }

    func start(_ path: RequestPath, _ priority: CallPriority) {
      let request = Request<String>.get(path).priority(priority)
      calls.append(Task { [api] in try await api.send(request) })
    }

    func finish() async throws {
      for call in calls { _ = try await call.value }
    }
  }

  @Test(
    "A high-priority call overtakes earlier low-priority calls, which keep their order", arguments: TestBackend.allCases
  )
  func overtaking(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let caller = Caller(server.client { $0.scheduler = scheduler }, scheduler)
      caller.start("/running", .normal)
      try await server.waitForRequests(1)
      for number in 0..<5 { try await caller.enqueue("/low\(number)", .low) }
      try await caller.enqueue("/high", .high)
      try await caller.enqueue("/immediate", .immediate)
      try await caller.enqueue("/normal", .normal)
      latch.open()
      try await caller.finish()
      let expected = ["running", "immediate", "high", "normal"] + (0..<5).map { "low\($0)" }
      #expect(server.paths == expected.map { "/\($0)" })
    }
  }

  /// Two urgent calls arrive per second, and the server handles one call per second. Without ageing, the low-priority
  /// call would starve.
  @Test(
    "A low-priority call does not starve: calls that arrive after its ageing bound do not overtake it",
    arguments: TestBackend.allCases)
  func ageing(backend: TestBackend) async throws {
    var limits = ConcurrencyLimits(global: 1)
    limits.ageing = .seconds(1)
    let (latch, clock, scheduler) = (Latch(), StoppedClock(), Scheduler(limits))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        clock.stop(&$0)
      }
      let caller = Caller(api, scheduler)
      caller.start("/running", .normal)
      try await server.waitForRequests(1)
      try await caller.enqueue("/background", .background)
      for second in 0..<10 {
        for number in 0..<2 { try await caller.enqueue("/high/\(second)/\(number)", .high) }
        clock.advance(by: .seconds(1))
        latch.release()
        try await server.waitForRequests(second + 2)
      }
      // The call is three priorities lower, so only calls that arrive within the next three seconds overtake the call.
      let place = try #require(server.paths.firstIndex(of: "/background"))
      #expect(place == 1 + 2 * 3)
      let before = server.paths[..<place].filter { $0.hasPrefix("/high") }
      #expect(before.allSatisfy { path in ["0", "1", "2"].contains { path.hasPrefix("/high/\($0)/") } })
      latch.open()
      try await caller.finish()
      #expect(server.requests.count == 22)
    }
  }

  @Test("A call without a priority has its task's priority", arguments: TestBackend.allCases)
  func taskPriority(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      var calls = [Task.detached { try await api.send(Request<String>.get("/running")) }]
      try await server.waitForRequests(1)
      let priorities: [(TaskPriority, RequestPath)] = [(.background, "/background"), (.high, "/high")]
      for (priority, path) in priorities {
        calls.append(Task.detached(priority: priority) { try await api.send(Request<String>.get(path)) })
        try await waitWhile(scheduler.queuedCount < calls.count - 1)
      }
      latch.open()
      // The values are awaited only now. Awaiting raises the priority of a call's task, but not of the queued call.
      for call in calls { _ = try await call.value }
      #expect(server.paths == ["/running", "/high", "/background"])
    }
  }

  @Test("An urgent call is admitted ahead of calls that wait for a different limit", arguments: TestBackend.allCases)
  func passing(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 4, tags: ["images": 1]))
    let latch = Latch()
    try await backend.with {
      $0.path == "/list" ? .text("list") : .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let images = (0..<4).map { number in
        Task { try await api.send(Request<String>.get("/image\(number)").tag("images").priority(.immediate)) }
      }
      try await waitWhile(scheduler.queuedCount < 3)
      let list = try await api.send(Request<String>.get("/list").priority(.background))
      #expect(list == "list")
      latch.open()
      for image in images { _ = try await image.value }
      #expect(server.requests.count == 5)
    }
  }
}
