import Apus
import TestSupport
import Testing

@Suite("29: the deadline of a call covers all waiting, with the stub and with sockets")
struct Capability29DeadlinesTests {
  private let clock = StoppedClock()
  private let latch = Latch()

  /// The point at which the time of a call passes.
  enum Loss: String, CaseIterable {
    case turn, credentials, redirect, head, content

    var phase: CallPhase {
      switch self {
      case .turn, .credentials: .waiting
      case .redirect, .head: .awaitingHead
      case .content: .receiving
      }
    }

    /// The number of requests that the server has received when the time passes.
    var requests: Int {
      switch self {
      case .turn, .head, .content: 1
      case .credentials, .redirect: 2
      }
    }

    func scriptedReply(_ request: ReceivedRequest, _ latch: Latch) -> ScriptedReply {
      switch (self, request.path) {
      case (.credentials, "/token"): .json(#"{"access_token":"new","refresh_token":"next"}"#).after(latch)
      case (.credentials, _): .status(401)
      case (.redirect, "/a"): .status(302, ["Location": "/b"])
      case (.content, _): .halfway
      default: .silence
      }
    }
  }

  @Test(
    "A call's deadline applies at every point, and the error has the phase", arguments: TestBackend.allCases,
    Loss.allCases)
  func total(backend: TestBackend, loss: Loss) async throws {
    try await backend.with { [latch] in
      loss.scriptedReply($0, latch)
    } body: { server in
      let api = server.client {
        clock.stop(&$0)
        $0.scheduler = Scheduler(ConcurrencyLimits(global: 1))
        guard loss == .credentials else { return }
        let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "once")))
        $0.authentication = .bearer(tokens, limit: .seconds(600)) { try await $0.tokens(from: "/token") }
      }
      var other: Task<CallError?, Never>?
      if loss == .turn {
        other = Task { await failure { try await api.send(Request<String>.get("/other")) } }
        try await server.waitForRequests(1)
      }
      let call = Task { await failure { try await api.send(Request<String>.get("/a").tag("a").timeout(.seconds(5))) } }
      try await arrive(loss, api, server)
      clock.advance(by: .seconds(5))
      let error = try #require(await call.value)
      #expect(error.code == .timeout)
      #expect(error.phase == loss.phase)
      #expect((error.requestState == .notSent) == (loss == .turn))
      #expect(server.requests.count == loss.requests)
      latch.open()
      other?.cancel()
      _ = await other?.value
    }
  }

  /// Waits until the call has reached the point at which its time passes.
  private func arrive(_ loss: Loss, _ api: Client, _ server: any RecordingServer) async throws {
    try await server.waitForRequests(loss.requests)
    func hasArrived(_ entry: CallEntry) -> Bool {
      switch loss {
      case .turn: entry.trace.events.contains(where: \.kind.isWait)
      case .credentials: entry.phase == .waiting
      case .content: entry.received.bytes >= 4
      // The server may have the request a moment before the transport reports it as sent.
      case .redirect, .head: entry.phase == .awaitingHead
      }
    }
    try await waitWhile(api.calls.calls(tag: "a").first.map(hasArrived) != true)
  }

  @Test(
    "Retry delays count toward the deadline, and the last attempt gets the remaining time",
    arguments: TestBackend.allCases)
  func backOff(backend: TestBackend) async throws {
    try await backend.with {
      $0.number == 0 ? .status(503) : .silence
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let call = Task { await failure { try await api.send(Request<String>.get("/a").timeout(.seconds(5))) } }
      // The sleepers are the deadline and a retry delay of one second.
      try await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
      try await server.waitForRequests(2)
      clock.advance(by: .seconds(4))
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.attempts == 2)
      #expect(error.failedAttempts.count == 1)
    }
  }

  @Test(
    "A retry whose delay exceeds the deadline is not made: the call fails immediately with the server's response",
    arguments: TestBackend.allCases)
  func noTimeLeft(backend: TestBackend) async throws {
    try await backend.with { _ in
      .status(503, ["Retry-After": "10"])
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let error = try #require(
        await failure { try await api.send(Request<String>.get("/a").timeout(.seconds(5))) })
      #expect(error.code == .rejected && error.status == 503 && error.retryAfter == .seconds(10))
      #expect(error.failedAttempts.map(\.decision) == [.giveUp(.deadlineTooNear)])
      #expect(server.requests.count == 1)
    }
  }

  @Test(
    "Calls in a withDeadline scope share its deadline, and later calls get the remaining time",
    arguments: TestBackend.allCases)
  func work(backend: TestBackend) async throws {
    try await backend.with { [latch] in
      $0.path == "/first" ? .text("there").after(latch) : .silence
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let work = Task {
        await failure {
          try await api.withDeadline(.seconds(5)) {
            _ = try await api.send(Request<String>.get("/first"))
            return try await api.send(Request<String>.get("/second").timeout(.seconds(60)))
          }
        }
      }
      try await server.waitForRequests(1)
      clock.advance(by: .seconds(3))
      latch.open()
      try await server.waitForRequests(2)
      clock.advance(by: .seconds(2))
      let error = try #require(await work.value)
      #expect(error.code == .timeout && error.endpoint.template == "/second")
      #expect(error.trace.duration == .seconds(2))
      #expect(api.calls.isEmpty)
    }
  }

  @Test("A call made after the deadline sends nothing and reports notSent", arguments: TestBackend.allCases)
  func over(backend: TestBackend) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = server.client { clock.stop(&$0) }
      let error = await failure {
        try await api.withDeadline(.seconds(5)) {
          clock.advance(by: .seconds(5))
          return try await api.send(Request<String>.get("/a"))
        }
      }
      #expect(error?.code == .timeout && error?.phase == .waiting && error?.requestState == .notSent)
      #expect(server.requests.isEmpty)
    }
  }

  @Test("A streamed call has no deadline unless it sets one", arguments: TestBackend.allCases)
  func streamed(backend: TestBackend) async throws {
    try await backend.with { _ in
      .halfway
    } body: { server in
      let api = server.client {
        clock.stop(&$0)
        $0.timeout = .seconds(30)
      }
      for limit in [nil, Duration.seconds(60)] {
        let request = Request<String>.get("/a").modified { $0.options.timeout = limit }
        let call = Task {
          await failure { try await api.withResponse(to: request) { try await $0.collect() } }
        }
        try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
        clock.advance(by: .seconds(3600))
        if limit == nil {
          for _ in 0..<100 { await Task.yield() }
          #expect(api.calls.count == 1)
          api.calls.cancelAll()
        }
        let error = try #require(await call.value)
        #expect(error.code == (limit == nil ? .cancelled : .timeout))
      }
    }
  }
}
