import AccountsService
import Apus
import Backend
import FriendsService

/// Somebody signs out while her tokens are refreshed: the answer comes too late and signs nobody in.
struct LateAnswer: Scene {
  let title = "Accounts: signing out, then a late answer"

  private static let refresh = "POST /sessions/refresh"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, person) = (world.stage, world.fleeting, world.person)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    let friends = LiveFriendsService(client: server.client)
    try await accounts.signIn(email: person.email, password: person.password)
    let position = try await server.log.position()
    world.held.hold(Self.refresh)
    world.clock.leap(by: World.tokenLifetime)
    let call = Task { try await accounts.account() }
    try await server.log.waitForArrivals(1, of: Self.refresh, since: position)
    await world.held.waitForAnswers(1)
    stage.say("A call waits for new tokens; the server has made them and takes its time. Ada signs out:")
    try await accounts.signOut()
    try await showFailure(.declined, on: stage) { try await call.value }
    world.held.release()
    try await server.client.waitUntilIdle()
    stage.say("Then the answer is there. It changes nothing; tokens kept: \(server.fingerprint)")
    try await showFailure(.rejected, on: stage) { try await friends.latestFriends(in: nil) }
    return [
      Claim(name: "late-answer", server: server, subject: Self.refresh, expected: "1", summary: Claim.count),
      Claim(name: "revoked", server: server, subject: "POST /sessions/revoke", expected: "204"),
      Claim(
        name: "after-late-answer", server: server, subject: "GET /friends", expected: "none",
        summary: Claim.credentials),
      .app("stays-out", "tokens after a late answer", expected: "none", shown: server.fingerprint),
    ]
  }
}
