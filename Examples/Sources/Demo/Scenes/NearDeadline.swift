import Apus

/// A deadline is for everything: for the wait for a turn, each attempt, the pauses between them, and for calls that are
/// made one after the other.
struct NearDeadline: Scene {
  let title = "What goes wrong: a deadline that waiting counts for"

  private static let stall = "GET /faults/stall"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let scheduler = Scheduler(SchedulingLimits(perOrigin: 1))
    let client = try Client(baseURL: world.staging.url()) {
      $0.suit(.app)
      $0.scheduler = scheduler
    }
    let position = try await log.position()
    // One call runs at a time, and this one does not end by itself.
    let busy = Task { try await client.send(.stalled().id("busy", whenRunning: .refuse)) }
    try await log.waitForArrivals(1, of: Self.stall, since: position)
    let patient = Task { try await client.send(.stalled().timeout(.milliseconds(700))) }
    try await scheduler.waitForWaiting(1)
    let waiting = try await showFailure(.timeout, on: stage) {
      try await client.send(.slow().timeout(.milliseconds(200)))
    }
    stage.note("when its 200 ms were over it had \(waiting.detail); it was never sent")
    client.calls.cancel(id: "busy")
    _ = await busy.result
    let sent = try await showFailure(.timeout, on: stage) { try await patient.value }
    stage.note("its turn came, but of its 700 ms it had waited \(turn(of: sent)); it was \(sent.phase)")
    let second = try await showFailure(.timeout, on: stage) {
      try await withDeadline(.milliseconds(500)) {
        try await client.send(Request<Void>.method(.get, "/"))
        try await client.send(.stalled().timeout(.seconds(60)))
      }
    }
    stage.note("two calls had 500 ms together: the second had 60 s of its own, which do not count")
    let busyServer = try await showFailure(.rejected, on: stage) {
      try await client.send(.busy(retryAfter: 5).timeout(.seconds(1)))
    }
    let decision = busyServer.failedAttempts.last.map { "\($0.decision)" } ?? "none"
    stage.note("in 5 s, says the server, but the call has 1 s: \(decision)")
    return [
      Claim(name: "stalled-calls", server: world.staging, subject: Self.stall, expected: "left ×3"),
      Claim(name: "never-sent", server: world.staging, subject: "GET /faults/slow", expected: "nothing"),
      Claim(name: "too-late", server: world.staging, subject: "GET /faults/status/503", expected: "503"),
      .app(
        "phases", "where three deadlines passed", expected: "waiting, awaitingHead, awaitingHead",
        shown: "\(waiting.phase), \(sent.phase), \(second.phase)"),
      .app(
        "not-in-time", "why there is no second attempt",
        expected: "no retry, the deadline would pass before the next attempt", shown: decision),
    ]
  }

  /// How long a call waited for its turn.
  private func turn(of error: CallError) -> String {
    for event in error.trace.events {
      if case .admitted(let time) = event.kind { return "\(Int(time / .milliseconds(1)))" }
    }
    return "none"
  }
}
