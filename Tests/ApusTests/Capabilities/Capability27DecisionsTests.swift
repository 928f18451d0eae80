import Apus
import TestSupport
import Testing

@Suite("27: observers receive every decision, with the stub and with sockets")
struct Capability27DecisionsTests {
  /// An observer that records the events that do not depend on how bytes are split.
  private final class Watcher: CallObserver {
    let steps = Log<String>()
    private let call: CallID

    init(of call: CallID) {
      self.call = call
    }

    func observe(_ event: TraceEvent, of call: CallEntry) {
      guard call.id == self.call, let step = Self.step(event) else { return }
      steps.add(step)
    }

    private static func step(_ event: TraceEvent) -> String? {
      switch event.kind {
      case .started: "started"
      case .prepared: "prepared"
      case .queued(let cause): "queued: \(cause)"
      case .admitted: "admitted"
      case .exchangeStarted: "exchange \(event.attempt)"
      case .headArrived(let status): "status \(status)"
      case .attemptFailed(let attempt): "failed \(attempt.attempt): \(attempt.cause)"
      case .attemptStarted: "attempt \(event.attempt)"
      case .credentialsRejected: "unauthorized"
      case .awaitingCredentials: "awaits credentials"
      case .redirected(let status, _, _): "redirected \(status)"
      case .coalesced: "joined"
      case .cancelRequested(let reason): "cancel \(reason)"
      case .decoded: "decoded"
      case .succeeded: "succeeded"
      case .failed(let code): "failed \(code.rawValue)"
      default: nil
      }
    }
  }

  @Test(
    "Waiting, a failed attempt, its retry and a redirect are reported in order to several observers",
    arguments: TestBackend.allCases)
  func inOrder(backend: TestBackend) async throws {
    let (clock, latch, scheduler) = (StoppedClock(), Latch(), Scheduler(ConcurrencyLimits(global: 1)))
    let (first, second) = (Watcher(of: "watched"), Watcher(of: "watched"))
    try await backend.with { request in
      switch (request.path, request.number) {
      case ("/other", _): .text("other").after(latch)
      case ("/a", 1): .status(503)
      case ("/a", _): .status(302, ["Location": "/b"])
      default: .text("there")
      }
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        clock.stop(&$0)
        $0.observers = [first, second]
      }
      let other = Task { try await api.send(Request<String>.get("/other")) }
      try await server.waitForRequests(1)
      let call = Task { try await api.send(Request<String>.get("/a").id("watched", onDuplicate: .allow)) }
      try await waitWhile(scheduler.queuedCount < 1)
      latch.open()
      _ = try await other.value
      try await clock.waitForSleepers(1)
      clock.advanceToNextWake()
      let text = try await call.value
      #expect(text == "there")
    }
    let expected = [
      "started", "prepared", "queued: global concurrency limit, 1", "admitted", "exchange 1", "status 503",
      "failed 1: status 503", "attempt 2", "exchange 2", "status 302", "redirected 302", "exchange 2", "status 200",
      "decoded", "succeeded",
    ]
    #expect(first.steps.all == expected)
    #expect(second.steps.all == expected)
  }

  @Test(
    "A rejected token, the wait for a new token and the second exchange are reported in order",
    arguments: TestBackend.allCases
  )
  func credentials(backend: TestBackend) async throws {
    let watcher = Watcher(of: "watched")
    try await backend.with { request in
      if request.path == "/token" { return .json(#"{"access_token":"new","refresh_token":"next"}"#) }
      return request.authorization == "Bearer new" ? .text("there") : .status(401)
    } body: { server in
      let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "once")))
      let api = server.client {
        $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
        $0.observers = [watcher]
      }
      _ = try await api.send(Request<String>.get("/a").id("watched", onDuplicate: .allow))
    }
    #expect(
      watcher.steps.all.filter { !$0.hasPrefix("queued") && $0 != "admitted" } == [
        "started", "prepared", "exchange 1", "status 401", "unauthorized", "awaits credentials", "exchange 1",
        "status 200", "decoded", "succeeded",
      ])
  }

  @Test(
    "A cancellation at any point is reported once, followed by the call's end", arguments: TestBackend.allCases
  )
  func cancel(backend: TestBackend) async throws {
    let scheduler = Scheduler(.app)
    let watcher = Watcher(of: "watched")
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = server.client {
        $0.scheduler = scheduler
        $0.observers = [watcher]
      }
      scheduler.pause("images")
      let request = Request<String>.get("/a").id("watched", onDuplicate: .allow).tag("images")
      let call = Task { await failure { try await api.send(request) } }
      try await waitWhile(!watcher.steps.all.contains("queued: held by the app"))
      for _ in 0..<3 { api.calls.cancel(tag: "images") }
      #expect(await call.value?.isCancellation == true)
      #expect(
        watcher.steps.all == [
          "started", "prepared", "queued: held by the app", "cancel by the app", "failed cancelled",
        ])
      #expect(server.requests.isEmpty)
    }
  }

  @Test("Observers receive the events of the result's trace", arguments: TestBackend.allCases)
  func trace(backend: TestBackend) async throws {
    let told = Log<TraceEvent>()
    try await backend.with {
      $0.number == 0 ? .status(503) : .text("there")
    } body: { server in
      let api = server.client {
        $0.retry = RetryPolicy(baseDelay: .zero)
        $0.observers = [Everything(told: told)]
      }
      let response = try await api.response(to: Request<String>.get("/a"))
      // The last event may be reported on another thread.
      try await waitWhile(told.all.last?.kind != .succeeded)
      #expect(response.trace.events == told.all.filter { !$0.isProgress })
      #expect(response.trace.failedAttempts.count == 1)
    }
  }

  private struct Everything: CallObserver {
    let told: Log<TraceEvent>

    func observe(_ event: TraceEvent, of call: CallEntry) { told.add(event) }
  }
}

extension TraceEvent {
  /// Whether the event only reports progress. Traces do not contain such events.
  fileprivate var isProgress: Bool {
    switch kind {
    case .sendProgress, .receiveProgress: true
    default: false
    }
  }
}
