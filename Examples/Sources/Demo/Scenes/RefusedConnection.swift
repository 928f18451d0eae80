import Apus

/// A server that is not there any more.
struct RefusedConnection: Scene {
  let title = "What goes wrong: nobody answers"

  func play(in world: World) async throws -> [Claim] {
    await world.stopFleeting()
    let client = world.fleeting.client
    // What comes of trying again is another scene.
    let call = Request<Void>.method(.get, "/friends").retry(.none)
    try await showFailure(.connectionFailed, on: world.stage) { try await client.send(call) }
    return [Claim(name: "refused", server: world.fleeting, subject: "GET /friends", expected: "nothing")]
  }
}
