import Apus
import FriendsService

/// Somebody removes a friend who is not there any more.
struct NothingThere: Scene {
  let title = "What goes wrong: 404"

  func play(in world: World) async throws -> [Claim] {
    let friends = world.friends
    try await showFailure(.rejected, on: world.stage) { try await friends.remove(999_999) }
    return [Claim(name: "not-found", server: world.staging, subject: "DELETE /friends/999999", expected: "404")]
  }
}
