import Apus
import TestSupport
import Testing

/// The point at which a call waits when it is cancelled.
enum WaitingPlace: String, CaseIterable, Sendable {
  /// The call has not started.
  case nowhere
  /// The head of the response, or more of its content.
  case head, content
  /// A permit, the rate limit, a network.
  case turn, pace, network
  /// New credentials.
  case credentials
  /// A retry delay.
  case backOff

  /// The number of requests that the server has received when the call waits at this point.
  var requests: Int {
    switch self {
    case .nowhere, .network: 0
    case .head, .content, .turn, .pace, .backOff: 1
    case .credentials: 2
    }
  }

  func scriptedReply(_ request: ReceivedRequest, _ latch: Latch) -> ScriptedReply {
    switch self {
    case .head: request.path == "/a" ? .silence : .text(request.path)
    case .content: request.path == "/a" ? .halfway : .text(request.path)
    case .turn: .text(request.path).after(latch)
    case .backOff: request.number == 0 ? .status(503) : .text(request.path)
    case .credentials: refreshing(request, latch)
    case .nowhere, .pace, .network: .text(request.path)
    }
  }

  private func refreshing(_ request: ReceivedRequest, _ latch: Latch) -> ScriptedReply {
    if request.path == "/token" { return .json(#"{"access_token":"new","refresh_token":"next"}"#).after(latch) }
    return request.authorization == "Bearer new" ? .text(request.path) : .status(401)
  }
}

@Suite("20: cancelling a waiting call, with the stub and with sockets")
struct Capability20CancelWaitingTests {
  /// The code that cancels the call.
  enum Canceller: CaseIterable {
    case task, registry
  }

  /// A client whose calls wait at a given point.
  private struct Bench {
    let place: WaitingPlace
    let clock = StoppedClock()
    let latch = Latch()
    let scheduler = Scheduler(ConcurrencyLimits(global: 1))
    let connectivity = Connectivity()

    func configure(_ configuration: inout Configuration) {
      clock.stop(&configuration)
      configuration.scheduler = scheduler
      switch place {
      case .pace: configuration.rateLimiter = RateLimiter(.perSecond(1))
      case .network:
        connectivity.report(.offline)
        configuration.connectivity = connectivity
        configuration.connectivityPolicy = .wait
      case .credentials:
        let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "once")))
        configuration.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
      default: break
      }
    }

    /// Performs another call, which uses the permit for which the call waits.
    func occupy(_ api: Client, _ server: any RecordingServer) async throws -> Task<CallError?, Never>? {
      switch place {
      case .turn:
        let other = Task { await failure { try await api.send(Request<String>.get("/other")) } }
        try await server.waitForRequests(1)
        return other
      case .pace:
        _ = try await api.send(Request<String>.get("/other"))
        return nil
      default: return nil
      }
    }

    /// Returns once the call waits at the given point.
    func arrive(_ api: Client, _ server: any RecordingServer) async throws {
      try await server.waitForRequests(place.requests)
      switch place {
      case .nowhere, .head: break
      case .content: try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
      case .turn: try await waitWhile(scheduler.queuedCount < 1)
      case .network: try await waitWhile(connectivity.waitingCount == 0)
      case .credentials: try await waitWhile(!api.calls.all.contains(where: \.awaitsCredentials))
      case .pace, .backOff: try await clock.waitForSleepers(1)
      }
    }
  }

  @Test(
    "A cancelled waiting call ends with the code cancelled, sends nothing more, and does not block the next call",
    arguments: TestBackend.allCases, WaitingPlace.allCases)
  func cancelled(backend: TestBackend, place: WaitingPlace) async throws {
    for canceller in Canceller.allCases where place != .nowhere || canceller == .task {
      let bench = Bench(place: place)
      try await backend.with { [latch = bench.latch] in
        place.scriptedReply($0, latch)
      } body: { server in
        try await cancel(canceller, bench, server)
      }
    }
  }

  private func cancel(_ canceller: Canceller, _ bench: Bench, _ server: any RecordingServer) async throws {
    let place = bench.place
    let api = server.client { bench.configure(&$0) }
    let other = try await bench.occupy(api, server)
    let call = Task {
      if place == .nowhere { withUnsafeCurrentTask { $0?.cancel() } }
      return await failure { try await api.send(Request<String>.get("/a").tag("one")) }
    }
    if place != .nowhere { try await bench.arrive(api, server) }
    switch canceller {
    case .task: call.cancel()
    case .registry: #expect(api.calls.cancel(tag: "one") == 1)
    }
    // The clock is stopped, so the call ends only because of its cancellation.
    let error = try #require(await call.value)
    #expect(error.code == .cancelled)
    #expect(error.cancellation == (canceller == .task ? .caller : .requested))
    if [.turn, .pace, .network, .nowhere].contains(place) { #expect(error.requestState == .notSent) }
    if place == .head || place == .content { try await server.waitUntilLeft("/a") }
    #expect(server.requests.count == place.requests)
    bench.latch.open()
    #expect(await other?.value == nil)
    try await performAnotherCall(bench, api, server)
  }

  /// Performs another call, which succeeds only if the single permit was released.
  private func performAnotherCall(_ bench: Bench, _ api: Client, _ server: any RecordingServer) async throws {
    bench.connectivity.report(.online)
    if bench.place == .pace { bench.clock.advance(by: .seconds(60)) }
    let text = try await api.send(Request<String>.get("/next"))
    #expect(text == "/next")
    // Cancelling a call does not end the shared refresh.
    #expect(server.paths.count { $0 == "/token" } == (bench.place == .credentials ? 1 : 0))
    #expect(
      bench.scheduler.runningCount == 0 && bench.scheduler.queuedCount == 0 && bench.connectivity.waitingCount == 0)
    try await waitWhile(!api.calls.isEmpty)
  }

  @Test("Cancelling a finished call has no effect", arguments: TestBackend.allCases)
  func afterEnd(backend: TestBackend) async throws {
    try await backend.with {
      .text($0.path)
    } body: { server in
      let api = server.client()
      let call = Task { try await api.send(Request<String>.get("/a")) }
      let text = try await call.value
      call.cancel()
      #expect(api.calls.cancelAll() == 0)
      #expect(text == "/a")
      let again = try await api.send(Request<String>.get("/b"))
      #expect(again == "/b")
    }
  }
}

extension CallEntry {
  fileprivate var awaitsCredentials: Bool {
    trace.events.contains { if case .awaitingCredentials = $0.kind { true } else { false } }
  }
}
