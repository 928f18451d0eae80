import Apus
import FriendsService

/// Where the time of one call went.
struct Timeline: Scene {
  let title = "The trace of one call"

  func play(in world: World) async throws -> [Claim] {
    let request = Request<FriendsPage>.get("/friends", query: ["page": 2]).json(.snakeCase)
    let response = try await world.app.response(to: request)
    for line in "\(response.trace)".split(separator: "\n") { world.stage.note(String(line)) }
    return [Claim(name: "traced", server: world.staging, subject: "GET /friends", expected: "200")]
  }
}
