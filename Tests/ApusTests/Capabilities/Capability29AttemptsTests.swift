import Apus
import TestSupport
import Testing

@Suite("29: the deadline of an attempt, with the stub and with sockets")
struct Capability29AttemptsTests {
  private let clock = StoppedClock()
  private let request = Request<String>.get("/a").tag("a")

  private func configure(_ configuration: inout Configuration) {
    clock.stop(&configuration)
    configuration.attemptTimeout = .seconds(10)
    configuration.retry = RetryPolicy(baseDelay: .zero)
  }

  @Test(
    "An attempt without a response before its deadline is closed and retried",
    arguments: TestBackend.allCases)
  func again(backend: TestBackend) async throws {
    try await backend.with {
      $0.number == 0 ? .silence : .text("there")
    } body: { server in
      let api = server.client { configure(&$0) }
      let call = Task { try await api.response(to: request) }
      try await server.waitForRequests(1)
      clock.advance(by: .seconds(10))
      let response = try await call.value
      #expect(response.value == "there")
      #expect(response.trace.failedAttempts.map(\.attempt) == [1])
      try await server.waitUntilLeft("/a")
      #expect(server.requests.count == 2)
    }
  }

  @Test(
    "If no attempt gets a response within the call's timeout, the error is a timeout with all attempts",
    arguments: TestBackend.allCases)
  func never(backend: TestBackend) async throws {
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { configure(&$0) }
      let call = Task { await failure { try await api.send(request.attemptTimeout(.seconds(10))) } }
      for count in 1...3 {
        try await server.waitForRequests(count)
        // The server may have the request a moment before the transport reports it as sent.
        try await waitWhile(api.calls.all.first?.phase != .awaitingHead)
        clock.advance(by: .seconds(10))
      }
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.requestState == .maybeSent)
      #expect(error.phase == .awaitingHead)
      #expect(error.failedAttempts.map(\.attempt) == [1, 2, 3])
      #expect(error.failedAttempts.allSatisfy { $0.duration == .seconds(10) })
      #expect(error.failedAttempts.last?.decision == .giveUp(.attemptsExhausted))
      #expect(api.calls.isEmpty)
    }
  }

  @Test("A request that is not idempotent is not retried after the attempt's deadline", arguments: TestBackend.allCases)
  func onlyOnce(backend: TestBackend) async throws {
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { configure(&$0) }
      let post = Request<String>.post("/a").attemptTimeout(.seconds(10))
      let call = Task { await failure { try await api.send(post) } }
      try await server.waitForRequests(1)
      clock.advance(by: .seconds(10))
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.requestState == .maybeSent)
      #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notIdempotent)])
      #expect(server.requests.count == 1)
    }
  }

  @Test(
    "After an attempt without a response, the next attempt gets all the remaining time",
    arguments: TestBackend.allCases)
  func slow(backend: TestBackend) async throws {
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client {
        configure(&$0)
        $0.timeout = .seconds(30)
      }
      let call = Task { await failure { try await api.send(request) } }
      for count in 1...2 {
        try await server.waitForRequests(count)
        // The sleepers are the deadline of the call, and with the stub the attempt's deadline.
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(count == 1 ? 10 : 20))
      }
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.cancellation != nil && error.failedAttempts.map(\.attempt) == [1])
      #expect(server.requests.count == 2)
    }
  }

  @Test(
    "A call with a long timeout of its own is sent once, however long the response takes",
    arguments: TestBackend.allCases
  )
  func longPoll(backend: TestBackend) async throws {
    try await backend.with { _ in
      .silence
    } body: { server in
      let api = server.client { configure(&$0) }
      let call = Task { await failure { try await api.send(request.timeout(.seconds(70))) } }
      try await server.waitForRequests(1)
      clock.advance(by: .seconds(69))
      for _ in 0..<100 { await Task.yield() }
      #expect(api.calls.count == 1 && server.requests.count == 1)
      clock.advance(by: .seconds(1))
      let error = try #require(await call.value)
      #expect(error.detail == "exceeded the call's limit of 70 s; change it with .timeout(_:)")
      #expect(error.attempts == 1)
    }
  }

  @Test("The attempt's time starts when the call is admitted", arguments: TestBackend.allCases)
  func turn(backend: TestBackend) async throws {
    let scheduler = Scheduler(.app)
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = server.client {
        configure(&$0)
        $0.scheduler = scheduler
      }
      scheduler.pause("a")
      let call = Task { try await api.response(to: request) }
      try await waitWhile(scheduler.queuedCount < 1)
      clock.advance(by: .seconds(60))
      scheduler.resume("a")
      let response = try await call.value
      #expect(response.value == "there" && response.trace.failedAttempts.isEmpty)
      #expect(server.requests.count == 1)
    }
  }

  @Test("The attempt timeout applies until the response head; content may take longer", arguments: TestBackend.allCases)
  func content(backend: TestBackend) async throws {
    try await backend.with { _ in
      .halfway
    } body: { server in
      let api = server.client { configure(&$0) }
      let limited = request.attemptTimeout(.seconds(10)).timeout(.seconds(90))
      let call = Task { await failure { try await api.send(limited) } }
      try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
      clock.advance(by: .seconds(60))
      for _ in 0..<100 { await Task.yield() }
      #expect(api.calls.count == 1)
      clock.advance(by: .seconds(30))
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.phase == .receiving && error.attempts == 1)
      #expect(server.requests.count == 1)
    }
  }
}
