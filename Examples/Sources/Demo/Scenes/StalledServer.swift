import Apus

/// A server that takes a request and never answers.
struct StalledServer: Scene {
  let title = "What goes wrong: a stalled server"

  func play(in world: World) async throws -> [Claim] {
    let error = try await showFailure(.timeout, on: world.stage) { [app = world.app] in
      try await app.send(.stalled().timeout(.milliseconds(600)))
    }
    world.stage.note("it was \(error.phase) when its 600 ms were over; the connection was closed at once")
    return [Claim(name: "stalled", server: world.staging, subject: "GET /faults/stall", expected: "left")]
  }
}
