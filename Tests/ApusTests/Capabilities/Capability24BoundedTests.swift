import Apus
import TestSupport
import Testing

@Suite("24: many concurrent calls, bounded")
struct Capability24BoundedTests {
  @Test(
    "With many calls, no more than the limit run concurrently, as counted by the server, and all calls succeed",
    arguments: TestBackend.allCases)
  func many(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 20, perOrigin: 4))
    try await backend.with {
      .text($0.path)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            let text = try await api.send(Request<String>.get("/\(number)"))
            #expect(text == "/\(number)")
          }
        }
        try await group.waitForAll()
      }
      #expect(server.requests.count == 200)
      #expect((1...4).contains(server.mostInFlight))
    }
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  /// A concurrency limit of three.
  enum Limit: CaseIterable {
    case total, origin, tag

    var limits: ConcurrencyLimits {
      switch self {
      case .total: ConcurrencyLimits(global: 3, perOrigin: 10)
      case .origin: ConcurrencyLimits(global: 10, perOrigin: 3)
      case .tag: ConcurrencyLimits(global: 10, perOrigin: 10, tags: ["images": 3])
      }
    }
  }

  @Test("Each concurrency limit is reached and never exceeded", arguments: TestBackend.allCases, Limit.allCases)
  func reached(backend: TestBackend, limit: Limit) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(limit.limits))
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let calls = (0..<12).map { number in
        Task { try await api.send(Request<String>.get("/\(number)").tag("images")) }
      }
      try await server.waitForRequests(3)
      try await waitWhile(scheduler.queuedCount < 9)
      #expect(server.requests.count == 3)
      #expect(scheduler.runningCount == 3)
      latch.open()
      for call in calls { _ = try await call.value }
      #expect(server.requests.count == 12)
      #expect(server.mostInFlight == 3)
    }
  }

  @Test("The global concurrency limit spans all servers", arguments: TestBackend.allCases)
  func severalServers(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 5, perOrigin: 3)))
    try await backend.with(host: "one.test") {
      .text($0.path).after(latch)
    } body: { one in
      try await backend.with(host: "other.test") {
        .text($0.path).after(latch)
      } body: { other in
        let apis = [one.client { $0.scheduler = scheduler }, other.client { $0.scheduler = scheduler }]
        let calls = (0..<20).map { number in
          Task { try await apis[number % 2].send(Request<String>.get("/\(number)")) }
        }
        try await waitWhile(scheduler.queuedCount < 15)
        #expect(scheduler.runningCount == 5)
        // Three calls run at one origin and two at the other.
        try await one.waitForRequests(2)
        try await other.waitForRequests(2)
        try await waitWhile(one.requests.count + other.requests.count < 5)
        #expect(one.requests.count + other.requests.count == 5)
        #expect(one.requests.count <= 3 && other.requests.count <= 3)
        latch.open()
        for call in calls { _ = try await call.value }
        #expect(one.mostInFlight <= 3 && other.mostInFlight <= 3)
        #expect(one.requests.count + other.requests.count == 20)
      }
    }
  }

  @Test("A slow origin never blocks calls to another origin", arguments: TestBackend.allCases)
  func slowOrigin(backend: TestBackend) async throws {
    let (latch, scheduler) = (Latch(), Scheduler(ConcurrencyLimits(global: 3, perOrigin: 2)))
    try await backend.with(host: "slow.test") {
      .text($0.path).after(latch)
    } body: { slow in
      try await backend.with(host: "quick.test") {
        .text($0.path)
      } body: { quick in
        let slowAPI = slow.client { $0.scheduler = scheduler }
        let quickAPI = quick.client { $0.scheduler = scheduler }
        let calls = (0..<10).map { number in Task { try await slowAPI.send(Request<String>.get("/\(number)")) } }
        try await waitWhile(scheduler.queuedCount < 8)
        for number in 0..<20 {
          let text = try await quickAPI.send(Request<String>.get("/\(number)").priority(.background))
          #expect(text == "/\(number)")
        }
        #expect(slow.requests.count == 2)
        #expect(scheduler.queuedCount == 8)
        latch.open()
        for call in calls { _ = try await call.value }
        #expect(slow.mostInFlight == 2)
      }
    }
  }

  @Test(
    "A call beyond the queue's limit is refused with a reason, and nothing is sent", arguments: TestBackend.allCases)
  func queueFull(backend: TestBackend) async throws {
    var limits = ConcurrencyLimits(global: 1)
    limits.queueCapacity = 1
    let (latch, scheduler) = (Latch(), Scheduler(limits))
    try await backend.with { _ in
      .text("there").after(latch)
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let first = Task { try await api.send(Request<String>.get("/first")) }
      try await server.waitForRequests(1)
      let second = Task { try await api.send(Request<String>.get("/second")) }
      try await waitWhile(scheduler.queuedCount < 1)
      let error = try #require(await failure { try await api.send(Request<String>.get("/third")) })
      #expect(error.code == .refused && error.requestState == .notSent)
      #expect(error.underlying as? SchedulingRefusal == .queueFull(limit: 1))
      latch.open()
      _ = try await (first.value, second.value)
      #expect(server.paths == ["/first", "/second"])
    }
  }

  @Test("A streamed call holds its permit until the response head", arguments: TestBackend.allCases)
  func streamed(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 1))
    try await backend.with { _ in
      .text("some content")
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      let running = try await api.withResponse(to: Request<String>.get("/a")) { (response: inout StreamedResponse) in
        let running = scheduler.runningCount
        _ = try await response.collect()
        return running
      }
      #expect(running == 0)
      #expect(scheduler.runningCount == 0)
      // The unread content is discarded, and the call's permit is released.
      try await api.withResponse(to: Request<String>.get("/b")) { _ in }
      #expect(scheduler.runningCount == 0)
    }
  }

  @Test("While a call waits between two attempts, other calls use its permit", arguments: TestBackend.allCases)
  func backOff(backend: TestBackend) async throws {
    let (clock, scheduler) = (StoppedClock(), Scheduler(ConcurrencyLimits(global: 1)))
    try await backend.with {
      $0.path == "/flaky" && $0.number == 0 ? .status(503) : .text("there")
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        clock.stop(&$0)
      }
      let flaky = Task { try await api.send(Request<String>.get("/flaky")) }
      try await clock.waitForSleepers(1)
      #expect(scheduler.runningCount == 0)
      let other = try await api.send(Request<String>.get("/other"))
      #expect(other == "there")
      clock.advanceToNextWake()
      let text = try await flaky.value
      #expect(text == "there")
      #expect(server.paths == ["/flaky", "/other", "/flaky"])
    }
  }
}
