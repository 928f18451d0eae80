import Apus

/// A server that has too much to do and says when to come back: the call does, and nobody notices.
struct IllServer: Scene {
  let title = "What goes wrong, and nobody notices: an ill server"

  func play(in world: World) async throws -> [Claim] {
    let key = "ill.\(UInt32.random(in: 0 ... .max))"
    let response = try await world.app.response(to: .flaky(key, failures: 2, retryAfter: 400))
    for line in "\(response.trace)".split(separator: "\n") { world.stage.note(String(line)) }
    let pauses = response.trace.failedAttempts.map { attempt -> String in
      guard case .again(_, let reason) = attempt.decision else { return "the end" }
      return "\(reason)"
    }
    return [
      Claim(name: "tried-again", server: world.staging, subject: "GET /faults/flaky", expected: "503 ×2, 200"),
      .app(
        "pauses", "why it paused", expected: "as the server asked, as the server asked",
        shown: pauses.joined(separator: ", ")),
    ]
  }
}
