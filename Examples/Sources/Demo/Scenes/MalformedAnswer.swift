import Apus

/// Answers that are not what they ought to be.
struct MalformedAnswer: Scene {
  let title = "What goes wrong: answers that make no sense"

  func play(in world: World) async throws -> [Claim] {
    let app = world.app
    let broken = try await showFailure(.decoding, on: world.stage) { try await app.send(.brokenFriends()) }
    world.stage.note("for developers: \(broken.detail)")
    let misshapen = try await showFailure(.decoding, on: world.stage) { try await app.send(.misshapenFriends()) }
    world.stage.note("for developers: \(misshapen.detail) at \(misshapen.place ?? "the top")")
    return [
      Claim(name: "malformed", server: world.staging, subject: "GET /faults/malformed", expected: "200"),
      Claim(name: "wrong-shape", server: world.staging, subject: "GET /faults/wrong-shape", expected: "200"),
    ]
  }
}
