import Apus
import TestSupport
import Testing

/// A cause of a failed call, as an app encounters it.
enum FailureCause: String, CaseIterable, Sendable {
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

  /// Returns the server's reply to the request.
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

  /// The failing request; a POST if a GET would be retried.
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

@Suite("17: each failure has one code and a message, with the stub and with sockets")
struct Capability17CausesTests {
  private let clock = StoppedClock()

  private func configure(_ configuration: inout Configuration, _ cause: FailureCause) {
    clock.stop(&configuration)
    configuration.retry = cause == .unavailable || cause == .throttled ? RetryPolicy(baseDelay: .zero) : .none
    switch cause {
    case .noTurn, .queueFull:
      var limits = ConcurrencyLimits(global: 1)
      if cause == .queueFull { limits.queueCapacity = 0 }
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

  /// Performs a call that fails and returns its error.
  private func error(_ cause: FailureCause, _ server: any RecordingServer) async throws -> CallError? {
    let api = server.client { configure(&$0, cause) }
    switch cause {
    case .silentHead, .silentContent: return try await timedOut(cause, api, server)
    case .cancelled:
      let call = Task { await failure { try await api.send(cause.request) } }
      try await server.waitForRequests(1)
      call.cancel()
      return await call.value
    case .noTurn, .queueFull: return try await behindAnother(cause, api, server)
    case .circuitOpen, .tooFast:
      _ = await failure { try await api.send(Request<String>.get("/before").breaker(.group("all"))) }
      return await failure { try await api.send(cause.request) }
    default: return await failure { try await api.send(cause.request) }
    }
  }

  private func timedOut(_ cause: FailureCause, _ api: Client, _ server: any RecordingServer) async throws -> CallError?
  {
    let call = Task { await failure { try await api.send(cause.request) } }
    try await server.waitForRequests(1)
    if cause == .silentContent {
      try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
    }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    return await call.value
  }

  private func behindAnother(_ cause: FailureCause, _ api: Client, _ server: any RecordingServer) async throws
    -> CallError?
  {
    let first = Task { await failure { try await api.send(Request<String>.get("/first")) } }
    try await server.waitForRequests(1)
    let second = Task { await failure { try await api.send(cause.request) } }
    if cause == .noTurn {
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(5))
    }
    let error = await second.value
    first.cancel()
    _ = await first.value
    return error
  }

  @Test(
    "Each failure has its code, request state and phase, and a message for people", arguments: TestBackend.allCases,
    FailureCause.allCases)
  func told(backend: TestBackend, cause: FailureCause) async throws {
    try await backend.with {
      cause.scriptedReply($0)
    } body: { server in
      let error = try #require(try await error(cause, server))
      #expect(error.code == cause.expected.code)
      #expect(error.isThrottled == [.queueFull, .circuitOpen, .tooFast].contains(cause))
      #expect(error.requestState == cause.expected.state)
      if let phase = cause.phase { #expect(error.phase == phase) }
      #expect(error.errorDescription?.hasSuffix(".") == true)
      // The message is for people, so it has no type names and no error numbers of the operating system.
      #expect(error.message.contains("Error") == false)
      #expect(error.isCancellation == (cause == .cancelled))
    }
  }

  @Test(
    "The error is the last attempt's failure, with all attempts and the reason for giving up",
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

  @Test("A local refusal has its reason and the time to wait", arguments: TestBackend.allCases)
  func refusals(backend: TestBackend) async throws {
    try await backend.with { request in
      FailureCause.circuitOpen.scriptedReply(request)
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
