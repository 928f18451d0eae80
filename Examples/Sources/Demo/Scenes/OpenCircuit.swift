import Apus

/// A server that fails time and again is left alone for a while; then one call shows that it is well.
struct OpenCircuit: Scene {
  let title = "What goes wrong: a server that is left alone until it is well"

  func play(in world: World) async throws -> [Claim] {
    let (stage, journal) = (world.stage, Journal())
    let client = try Client(baseURL: world.staging.url()) {
      var policy = BreakerPolicy.interactive
      policy.firstOpening = .milliseconds(400)
      $0.breaker = CircuitBreaker(policy) { journal.add(Self.text(of: $0.status)) }
      // Each call for itself, so that one can count.
      $0.retry = .none
    }
    let endpoint = Request<Void>.flaky("circuit.\(UInt32.random(in: 0 ... .max))", failures: 5)
    for _ in 1...4 { try await check(.rejected) { try await client.send(endpoint) } }
    try await showFailure(.rejected, on: stage) { try await client.send(endpoint) }
    stage.say("That was the fifth in a row. The next ones are not even sent:")
    for _ in 1...2 { try await check(.declined) { try await client.send(endpoint) } }
    let refused = try await showFailure(.declined, on: stage) { try await client.send(endpoint) }
    let pause = (refused.retryAfter ?? .zero) + .milliseconds(20)
    stage.say("After \(Int(pause / .milliseconds(1))) ms one goes, to see; it is answered, and so is the next:")
    try await Task.sleep(for: pause)
    for _ in 1...2 { try await client.send(endpoint) }
    stage.say("the circuit \(journal.text)")
    return [
      Claim(name: "circuit", server: world.staging, subject: "GET /faults/flaky", expected: "503 ×5, 200 ×2"),
      .app(
        "circuit-changes", "what a circuit did", expected: "opened, let one through, closed", shown: journal.text),
    ]
  }

  private static func text(of status: BreakerStatus) -> String {
    switch status {
    case .closed: "closed"
    case .open: "opened"
    case .halfOpen: "let one through"
    case .isolated: "was isolated"
    }
  }
}
