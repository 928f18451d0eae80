import AccountsService
import Apus
import FriendsService

/// Somebody signs out: no call carries her token any more.
struct SignOut: Scene {
  let title = "Accounts: signing out"

  func play(in world: World) async throws -> [Claim] {
    try await world.accounts.signOut()
    world.stage.say("Ada is signed out; her friends are hers:")
    let friends = world.friends
    try await showFailure(.rejected, on: world.stage) { try await friends.latestFriends(in: nil) }
    return [
      Claim(name: "sign-out", server: world.staging, subject: "POST /sessions/revoke", expected: "204"),
      Claim(name: "signed-out", server: world.staging, subject: "GET /friends", expected: "401"),
      Claim(
        name: "no-token", server: world.staging, subject: "GET /friends", expected: "none",
        summary: Claim.credentials),
    ]
  }
}
