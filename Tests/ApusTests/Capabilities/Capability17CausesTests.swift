import Apus
import TestSupport
import Testing

/// A way in which a call fails, as it happens to an app.
enum FailingWay: String, CaseIterable, Sendable {
  case refusedWithReason, refusedWithout, unavailable, throttled, silentHead, silentContent, brokenOff, wrongShape,
    unencodable, badPath, cancelled, noTurn, queueFull, circuitOpen, tooFast, offline

  /// The error's code and request state.
  var expected: (code: CallError.Code, state: RequestState) {
    switch self {
    case .refusedWithReason, .refusedWithout, .unavailable, .throttled: (.rejected, .responded)
    case .silentHead: (.timeout, .maybeSent)
    case .silentContent: (.timeout, .responded)
    case .brokenOff: (.connectionLost, .maybeSent)
    case .wrongShape: (.decoding, .responded)
    case .unencodable: (.encoding, .notSent)
    case .badPath: (.invalidRequest, .notSent)
    case .cancelled: (.cancelled, .maybeSent)
    case .noTurn: (.timeout, .notSent)
    case .queueFull, .circuitOpen, .tooFast: (.refused, .notSent)
    case .offline: (.offline, .notSent)
    }
  }

  /// The call's phase; `nil` if it does not matter or depends on the machine.
  var phase: CallPhase? {
    switch self {
    case .silentContent: .receiving
    case .noTurn: .waiting
    case .badPath, .unencodable: .preparing
    default: nil
    }
  }

  /// What the server does with the request.
  func scriptedReply(_ request: ReceivedRequest) -> ScriptedReply {
    switch self {
    case .refusedWithReason: .json(#"{"message":"No."}"#, status: 400)
    case .refusedWithout: .status(400)
    case .unavailable, .circuitOpen: .status(503)
    case .throttled: .status(429, ["Retry-After": "3600"])
    case .silentHead, .cancelled, .noTurn, .queueFull: .silence
    case .silentContent: .halfway
    case .brokenOff: .broken
    case .wrongShape: .json(#"{"id":"seven"}"#)
    case .unencodable, .badPath, .tooFast, .offline: .text("there")
    }
  }

  /// The failing call; a POST where a GET would be retried.
  var request: Request<User> {
    switch self {
    case .brokenOff: .post("/a")
    case .unencodable: .post("/a", content: .json([Double.nan]))
    case .badPath: .get("/\("..")")
    case .silentHead, .silentContent, .noTurn: Request<User>.get("/a").timeout(.seconds(5))
    case .tooFast: Request<User>.get("/a").timeout(.milliseconds(500))
    case .circuitOpen: Request<User>.get("/a").breaker(.group("all"))
    default: .get("/a")
    }
  }
}

@Suite("17: each failure is one code and a sentence, with the stub and with sockets")
struct Capability17CausesTests {
  private let clock = StoppedClock()

  private func configure(_ configuration: inout Configuration, _ way: FailingWay) {
    clock.stop(&configuration)
    configuration.retry = way == .unavailable || way == .throttled ? RetryPolicy(baseDelay: .zero) : .none
    switch way {
    case .noTurn, .queueFull:
      var limits = ConcurrencyLimits(global: 1)
      if way == .queueFull { limits.queueCapacity = 0 }
      configuration.scheduler = Scheduler(limits)
    case .circuitOpen: configuration.breaker = CircuitBreaker(BreakerPolicy(consecutiveFailures: 1))
    case .tooFast: configuration.rateLimiter = RateLimiter(.perSecond(1))
    case .offline:
      let connectivity = Connectivity()
      connectivity.report(.offline)
      configuration.connectivity = connectivity
      configuration.connectivityPolicy = .failFast
    default: break
    }
  }

  /// Makes the call fail and returns its error.
  private func error(_ way: FailingWay, _ server: any RecordingServer) async throws -> CallError? {
    let api = server.client { configure(&$0, way) }
    switch way {
    case .silentHead, .silentContent: return try await timedOut(way, api, server)
    case .cancelled:
      let call = Task { await failure { try await api.send(way.request) } }
      try await server.waitForRequests(1)
      call.cancel()
      return await call.value
    case .noTurn, .queueFull: return try await behindAnother(way, api, server)
    case .circuitOpen, .tooFast:
      _ = await failure { try await api.send(Request<String>.get("/before").breaker(.group("all"))) }
      return await failure { try await api.send(way.request) }
    default: return await failure { try await api.send(way.request) }
    }
  }

  private func timedOut(_ way: FailingWay, _ api: Client, _ server: any RecordingServer) async throws -> CallError? {
    let call = Task { await failure { try await api.send(way.request) } }
    try await server.waitForRequests(1)
    if way == .silentContent {
      try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
    }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    return await call.value
  }

  private func behindAnother(_ way: FailingWay, _ api: Client, _ server: any RecordingServer) async throws -> CallError?
  {
    let first = Task { await failure { try await api.send(Request<String>.get("/first")) } }
    try await server.waitForRequests(1)
    let second = Task { await failure { try await api.send(way.request) } }
    if way == .noTurn {
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(5))
    }
    let error = await second.value
    first.cancel()
    _ = await first.value
    return error
  }

  @Test("Each failure is reported to the app in the same way", arguments: TestBackend.allCases, FailingWay.allCases)
  func told(backend: TestBackend, way: FailingWay) async throws {
    try await backend.with {
      way.scriptedReply($0)
    } body: { server in
      let error = try #require(try await error(way, server))
      #expect(error.code == way.expected.code)
      #expect(error.isThrottled == [.queueFull, .circuitOpen, .tooFast].contains(way))
      #expect(error.requestState == way.expected.state)
      if let phase = way.phase { #expect(error.phase == phase) }
      #expect(error.errorDescription?.hasSuffix(".") == true)
      // The sentence is for people: it has no type names and no numbers of the operating system.
      #expect(error.message.contains("Error") == false)
      #expect(error.isCancellation == (way == .cancelled))
    }
  }

  @Test(
    "The last attempt's failure is the error, with all attempts and the reason for giving up",
    arguments: TestBackend.allCases)
  func attempts(backend: TestBackend) async throws {
    try await backend.with { _ in
      .status(503)
    } body: { server in
      let api = server.client { configure(&$0, .unavailable) }
      let error = try #require(await failure { try await api.send(Request<String>.get("/a")) })
      #expect(error.code == .rejected && error.status == 503 && error.attempts == 3)
      #expect(error.failedAttempts.map(\.attempt) == [1, 2, 3])
      #expect(error.failedAttempts.allSatisfy { $0.cause == .status(503) })
      #expect(error.failedAttempts.last?.decision == .giveUp(.attemptsExhausted))
      #expect(server.requests.count == 3)
    }
  }

  @Test("A local refusal says why, and how long to wait", arguments: TestBackend.allCases)
  func refusals(backend: TestBackend) async throws {
    try await backend.with { request in
      FailingWay.circuitOpen.scriptedReply(request)
    } body: { server in
      let error = try #require(try await error(.circuitOpen, server))
      #expect(error.underlying is BreakerRefusal)
      #expect(error.retryAfter.map { $0 > .seconds(4) && $0 < .seconds(7) } == true)
      #expect(server.paths == ["/before"])
    }
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let error = try #require(try await error(.tooFast, server))
      #expect(error.underlying is RateLimitRefusal)
      #expect(error.retryAfter == .seconds(1))
      #expect(server.paths == ["/before"])
    }
  }
}
