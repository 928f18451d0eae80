import AccountsService
import Apus
import FriendsService

/// One client is switched from staging to production while its calls are in flight.
struct SwitchServers: Scene {
  let title = "Switching servers while calls are in flight"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    try await signUp(on: world.production, world.person)
    let friends = world.friends
    let position = try await world.staging.log.position()
    try await withThrowingTaskGroup { group in
      for _ in 1...3 { group.addTask { _ = try await friends.categories() } }
      try await world.staging.log.waitForArrivals(3, of: Self.call, since: position)
      stage.say("3 calls are in flight to \(world.app.environment.name) …")
      world.app.use(world.production.client.environment)
      stage.say("… the same client now uses \(world.app.environment.name): 3 more calls")
      for _ in 1...3 { group.addTask { _ = try await friends.categories() } }
      try await group.waitForAll()
    }
    world.app.use(world.staging.client.environment)
    stage.say("all 6 answered, each by the server it began with; back to \(world.app.environment.name)")
    return [world.staging, world.production].flatMap { server in
      [
        Claim(name: "switch-\(server.name)", server: server, subject: Self.call, expected: "200 ×3"),
        Claim(
          name: "tokens-\(server.name)", server: server, subject: Self.call, expected: server.fingerprint,
          summary: Claim.credentials),
      ]
    }
  }

  private static let call = "GET /friends/categories"

  private func signUp(on server: Server, _ person: World.Person) async throws {
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: person.name, email: person.email, password: person.password))
    try await accounts.signIn(email: person.email, password: person.password)
  }
}
