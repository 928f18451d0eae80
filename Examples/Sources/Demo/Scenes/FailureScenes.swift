import Apus
import FriendsService

/// A server that accepts a request and never responds.
struct StalledServerScene: Scene {
  let title = "A stalled server: the timeout names the phase"

  func play(in world: World) async throws -> [Claim] {
    let error = try await showFailure(.timeout, on: world.stage) { [app = world.app] in
      try await app.send(.stalled().timeout(.milliseconds(600)))
    }
    world.stage.note("phase after 600 ms: \(error.phase); the connection was closed immediately")
    return [Claim(name: "stalled", server: world.staging, subject: "GET /faults/stall", expected: "left")]
  }
}

/// One deadline bounds the time in the queue, all attempts, the delays between them, and several calls together.
struct DeadlineScene: Scene {
  let title = "Deadlines: time in the queue counts"

  private static let stall = "GET /faults/stall"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let scheduler = Scheduler(ConcurrencyLimits(perOrigin: 1))
    let client = try Client(baseURL: world.staging.url()) {
      $0.apply(.app)
      $0.scheduler = scheduler
    }
    let position = try await log.position()
    // Occupies the only permit until it is cancelled.
    let busy = Task { try await client.send(.stalled().id("busy", onDuplicate: .refuse)) }
    try await log.waitForArrivals(1, of: Self.stall, since: position)
    let patient = Task { try await client.send(.stalled().timeout(.milliseconds(700))) }
    try await wait(until: "a call is queued") { scheduler.queuedCount >= 1 }
    let waiting = try await showFailure(.timeout, on: stage) {
      try await client.send(.slow().timeout(.milliseconds(200)))
    }
    stage.note("the 200 ms ended in the queue; the call was never sent (\(waiting.detail))")
    client.calls.cancel(id: "busy")
    _ = await busy.result
    let sent = try await showFailure(.timeout, on: stage) { try await patient.value }
    stage.note("queued for \(queueTime(of: sent)) of its 700 ms, then sent; phase at the end: \(sent.phase)")
    let second = try await showFailure(.timeout, on: stage) {
      try await withDeadline(.milliseconds(500)) {
        try await client.send(Request<Void>.method(.get, "/"))
        try await client.send(.stalled().timeout(.seconds(60)))
      }
    }
    stage.note("two calls shared 500 ms: the second call's own timeout of 60 s does not extend them")
    let busyServer = try await showFailure(.rejected, on: stage) {
      try await client.send(.busy(retryAfter: 5).timeout(.seconds(1)))
    }
    let isNotRetried = busyServer.trace.failedAttempts.last?.giveUpReason == .deadlineTooNear
    stage.note("the server asks for a retry in 5 s, but the call has only 1 s left: it fails immediately")
    return [
      Claim(name: "stalled-calls", server: world.staging, subject: Self.stall, expected: "left ×3"),
      Claim(name: "never-sent", server: world.staging, subject: "GET /faults/slow", expected: "nothing"),
      Claim(name: "too-late", server: world.staging, subject: "GET /faults/status/503", expected: "503"),
      .app(
        "phases", "phases in which three deadlines passed", expected: "waiting, awaitingHead, awaitingHead",
        shown: "\(waiting.phase), \(sent.phase), \(second.phase)"),
      .app(
        "no-late-retry", "the reason for no second attempt", expected: "the deadline is too near",
        shown: isNotRetried ? "the deadline is too near" : "another reason"),
    ]
  }

  private func queueTime(of error: CallError) -> String {
    for event in error.trace.events {
      if case .admitted(let time) = event.kind { return "\(Int(time / .milliseconds(1)))" }
    }
    return "none"
  }
}

/// An overloaded server whose response contains a delay: the call is retried after that delay.
struct RetryScene: Scene {
  let title = "An overloaded server: the call is retried after the delay the server names"

  func play(in world: World) async throws -> [Claim] {
    let key = "overloaded.\(UInt32.random(in: 0 ... .max))"
    let response = try await world.app.response(to: .flaky(key, failures: 2, retryAfter: 400))
    for line in "\(response.trace)".split(separator: "\n") { world.stage.note(String(line)) }
    let delays = response.trace.failedAttempts.map { attempt in
      attempt.retryDelay.map { $0 >= .milliseconds(400) } == true ? "the server's" : "another"
    }
    return [
      Claim(name: "retried", server: world.staging, subject: "GET /faults/flaky", expected: "503 ×2, 200"),
      .app(
        "delays", "delays before the retries", expected: "the server's, the server's",
        shown: delays.joined(separator: ", ")),
    ]
  }
}

/// A circuit breaker that opens after consecutive failures, and closes after a successful probe.
struct CircuitBreakerScene: Scene {
  let title = "A circuit breaker: five failures open it, a probe closes it"

  func play(in world: World) async throws -> [Claim] {
    let (stage, journal) = (world.stage, Journal())
    let client = try Client(baseURL: world.staging.url()) {
      var policy = BreakerPolicy.app
      policy.openDuration = .milliseconds(400)
      $0.breaker = CircuitBreaker(policy) { journal.add(Self.text(of: $0.status)) }
      // Each call makes one attempt, so that the failures can be counted.
      $0.retry = .none
    }
    let endpoint = Request<Void>.flaky("circuit.\(UInt32.random(in: 0 ... .max))", failures: 5)
    for _ in 1...4 { try await failure(.rejected) { try await client.send(endpoint) } }
    try await showFailure(.rejected, on: stage) { try await client.send(endpoint) }
    stage.say("That was the fifth failure in a row. The next calls are refused without being sent:")
    for _ in 1...2 { try await failure(.refused) { try await client.send(endpoint) } }
    let refused = try await showFailure(.refused, on: stage) { try await client.send(endpoint) }
    let pause = (refused.retryAfter ?? .zero) + .milliseconds(20)
    stage.say("After \(Int(pause / .milliseconds(1))) ms one call probes the server; it and the next succeed.")
    try await Task.sleep(for: pause)
    for _ in 1...2 { try await client.send(endpoint) }
    let changes = journal.entries.joined(separator: ", ")
    stage.say("Changes of the breaker: \(changes)")
    return [
      Claim(name: "circuit", server: world.staging, subject: "GET /faults/flaky", expected: "503 ×5, 200 ×2"),
      .app(
        "circuit-changes", "changes of the breaker", expected: "open, half-open, closed", shown: changes),
    ]
  }

  private static func text(of status: BreakerStatus) -> String {
    switch status {
    case .closed: "closed"
    case .open: "open"
    case .halfOpen: "half-open"
    }
  }
}

/// Truncated JSON, and JSON of the wrong shape.
struct MalformedResponseScene: Scene {
  let title = "Malformed responses: truncated JSON, and the wrong shape"

  func play(in world: World) async throws -> [Claim] {
    let app = world.app
    let truncated = try await showFailure(.decoding, on: world.stage) { try await app.send(.truncatedFriends()) }
    world.stage.note(truncated.detail)
    let misshapen = try await showFailure(.decoding, on: world.stage) { try await app.send(.misshapenFriends()) }
    world.stage.note("\(misshapen.detail), at \(misshapen.codingPath ?? "the top")")
    return [
      Claim(name: "malformed", server: world.staging, subject: "GET /faults/malformed", expected: "200"),
      Claim(name: "wrong-shape", server: world.staging, subject: "GET /faults/wrong-shape", expected: "200"),
    ]
  }
}

/// A server that is not running: five calls try to connect, then the circuit breaker rejects the sixth immediately.
struct ServerDownScene: Scene {
  let title = "A server that is down: after five calls, the circuit breaker refuses"

  func play(in world: World) async throws -> [Claim] {
    await world.stopUnstable()
    let client = try Client(baseURL: world.unstable.url()) { $0.apply(.app) }
    let call = Request<Void>.method(.get, "/friends").retry(.none)
    try await showFailure(.connectionFailed, on: world.stage) { try await client.send(call) }
    for _ in 1...4 { try await failure(.connectionFailed) { try await client.send(call) } }
    let start = ContinuousClock.now
    let error = try await showFailure(.refused, on: world.stage) { try await client.send(call) }
    let time = start.duration(to: .now) / .milliseconds(1)
    world.stage.note("known after \(Int(time)) ms; a retry makes sense in \(error.retryAfter ?? .zero)")
    return [
      Claim(name: "server-down", server: world.unstable, subject: "GET /friends", expected: "nothing"),
      .app(
        "open-circuit", "the reason for the sixth call's failure", expected: "the circuit is open",
        shown: error.underlying is BreakerRefusal ? "the circuit is open" : error.detail),
    ]
  }
}
