import Apus
import Testing

@Suite("35: parallel calls succeed and fail together, with the stub and with sockets")
struct Capability35ParallelTests {
  /// Performs calls in a task group that ends with the first error.
  private func group(of paths: [RequestPath], by api: Client) -> Task<[String], any Error> {
    Task {
      try await withThrowingTaskGroup(of: String.self) { group in
        for path in paths {
          group.addTask { try await api.send(Request<String>.get(path)) }
        }
        var texts: [String] = []
        for try await text in group { texts.append(text) }
        return texts.sorted()
      }
    }
  }

  @Test(
    "Calls of a task group are in flight concurrently, and each returns its own value", arguments: TestBackend.allCases)
  func together(backend: TestBackend) async throws {
    let latch = Latch()
    try await backend.with {
      .text($0.path).after(latch)
    } body: { server in
      let texts = group(of: ["/1", "/2", "/3"], by: server.client())
      // No response is sent before all requests have arrived.
      try await server.waitForRequests(3)
      latch.open()
      let values = try await texts.value
      #expect(values == ["/1", "/2", "/3"])
      #expect(server.mostInFlight == 3)
    }
  }

  /// The failure of the first child.
  enum Fall: String, CaseIterable {
    case refused, broken, cancelled, timedOut
  }

  @Test(
    "A child that fails or is cancelled cancels its siblings, in flight or queued",
    arguments: TestBackend.allCases, Fall.allCases)
  func siblings(backend: TestBackend, fall: Fall) async throws {
    let (latch, clock, scheduler) = (Latch(), StoppedClock(), Scheduler(ConcurrencyLimits(global: 3)))
    try await backend.with { request in
      guard request.path == "/first", fall != .cancelled, fall != .timedOut else { return .silence }
      return fall == .broken ? ScriptedReply.broken.after(latch) : ScriptedReply.status(404).after(latch)
    } body: { server in
      let api = server.client {
        clock.stop(&$0)
        $0.retry = .none
        $0.scheduler = scheduler
      }
      scheduler.pause("late")
      let parent = Task {
        try await withThrowingTaskGroup(of: String.self) { group in
          let first = Request<String>.get("/first").tag("first")
          group.addTask { try await api.send(fall == .timedOut ? first.timeout(.seconds(5)) : first) }
          try await server.waitForRequests(1)
          for number in 0..<5 {
            // The tag is paused, so that no call uses the permit of the failing call before the siblings are cancelled.
            let request = Request<String>.get("/\(number)")
            group.addTask { try await api.send(number < 2 ? request : request.tag("late")) }
          }
          for try await _ in group {}
        }
      }
      try await server.waitForRequests(3)
      try await waitWhile(scheduler.queuedCount < 3)
      let siblings = server.paths.filter { $0 != "/first" }
      switch fall {
      case .refused, .broken: latch.open()
      case .cancelled: api.calls.cancel(tag: "first")
      case .timedOut: clock.advance(by: .seconds(5))
      }
      let error = try #require(await failure { try await parent.value })
      let expected: [Fall: CallError.Code] = [
        .refused: .rejected, .broken: .connectionLost, .cancelled: .cancelled, .timedOut: .timeout,
      ]
      #expect(error.code == expected[fall])
      // All children have ended when the group has ended.
      #expect(api.calls.isEmpty && scheduler.runningCount == 0 && scheduler.queuedCount == 0)
      for path in siblings { try await server.waitUntilLeft(path) }
      #expect(server.requests.count == 3)
    }
  }

  @Test("Cancelling a parent cancels all its children, in flight or waiting", arguments: TestBackend.allCases)
  func parent(backend: TestBackend) async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 2))
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { $0.scheduler = scheduler }
      // The tag is paused, so that no call with the tag uses the permit of a cancelled sibling.
      scheduler.pause("late")
      let parent = Task {
        try await withThrowingTaskGroup(of: String.self) { group in
          for path: RequestPath in ["/1", "/2"] { group.addTask { try await api.send(.get(path)) } }
          for path: RequestPath in ["/3", "/4"] { group.addTask { try await api.send(Request.get(path).tag("late")) } }
          for try await _ in group {}
        }
      }
      try await server.waitForRequests(2)
      try await waitWhile(scheduler.queuedCount < 2)
      parent.cancel()
      #expect(await failure { try await parent.value }?.isCancellation == true)
      for path in server.paths { try await server.waitUntilLeft(path) }
      #expect(server.requests.count == 2)
      #expect(api.calls.isEmpty && scheduler.runningCount == 0 && scheduler.queuedCount == 0)
    }
  }

  @Test("With async let, a failing call cancels the other call", arguments: TestBackend.allCases)
  func asyncLet(backend: TestBackend) async throws {
    let latch = Latch()
    try await backend.with {
      $0.path == "/fails" ? ScriptedReply.status(404).after(latch) : .silence
    } body: { server in
      let api = server.client()
      let both = Task {
        async let silent = api.send(Request<String>.get("/silent"))
        async let fails = api.send(Request<String>.get("/fails"))
        return try await (fails, silent)
      }
      try await server.waitForRequests(2)
      latch.open()
      #expect(await failure { try await both.value }?.status == 404)
      try await server.waitUntilLeft("/silent")
      #expect(api.calls.isEmpty)
    }
  }

  @Test("A failing child also cancels a sibling that waits for a retry", arguments: TestBackend.allCases)
  func betweenAttempts(backend: TestBackend) async throws {
    let (latch, clock) = (Latch(), StoppedClock())
    try await backend.with {
      $0.path == "/busy" ? .status(503) : ScriptedReply.status(404).after(latch)
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let texts = group(of: ["/busy", "/fails"], by: api)
      try await server.waitForRequests(2)
      try await clock.waitForSleepers(1)
      latch.open()
      #expect(await failure { try await texts.value }?.status == 404)
      clock.advance(by: .seconds(60))
      #expect(api.calls.isEmpty)
      #expect(server.paths.count { $0 == "/busy" } == 1)
    }
  }
}
