import Apus

/// Nobody answers, however often somebody tries: soon nobody tries, and the person reads at once that it is no use.
struct DeadServer: Scene {
  let title = "What goes wrong: nobody answers, and nobody tries any more"

  func play(in world: World) async throws -> [Claim] {
    await world.stopFleeting()
    let client = try Client(baseURL: world.fleeting.url()) { $0.suit(.app) }
    let call = Request<Void>.method(.get, "/friends").retry(.none)
    for _ in 1...4 { try await check(.connectionFailed) { try await client.send(call) } }
    try await showFailure(.connectionFailed, on: world.stage) { try await client.send(call) }
    let start = ContinuousClock.now
    let error = try await showFailure(.declined, on: world.stage) { try await client.send(call) }
    let time = start.duration(to: .now) / .milliseconds(1)
    world.stage.note("it took \(Int(time)) ms to know; another try makes sense in \(error.retryAfter ?? .zero)")
    return [
      Claim(name: "dead", server: world.fleeting, subject: "GET /friends", expected: "nothing"),
      .app(
        "dead-circuit", "why the sixth call failed", expected: "the circuit is open",
        shown: error.underlying is BreakerRejection ? "the circuit is open" : error.detail),
    ]
  }
}
