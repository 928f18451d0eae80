import AccountsService
import Apus
import FriendsService

/// Calls go on while tokens end: nobody notices, and the server is asked for new ones once each time.
struct ShortTokens: Scene {
  let title = "Accounts: tokens that live three seconds"

  private static let call = "GET /friends/categories"
  /// Two calls at once, ten times: long enough for two ends of tokens, not for a third.
  private static let pause = Duration.milliseconds(700)
  private static let calls = 20

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, person) = (world.stage, world.fleeting, world.person)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: person.name, email: person.email, password: person.password))
    try await accounts.signIn(email: person.email, password: person.password)
    let before = server.tokens.current().generation
    let friends = LiveFriendsService(client: server.client)
    try await load(friends, on: stage)
    try await server.client.waitUntilIdle()
    let replaced = Int(server.tokens.current().generation - before)
    stage.settle("\(Stage.bar(1, of: 1))  \(Self.calls) calls in \(Self.pause * (Self.calls / 2)), none failed")
    stage.say("the tokens ended and were replaced \(replaced) times; no screen ever knew")
    return [
      Claim(
        name: "short-tokens", server: server, subject: Self.call, expected: "200 ×\(Self.calls)",
        summary: Claim.successes),
      Claim(
        name: "refreshes", server: server, subject: "POST /sessions/refresh", expected: "200 ×\(max(2, replaced))"),
    ]
  }

  private func load(_ friends: LiveFriendsService, on stage: Stage) async throws {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<Self.calls {
        group.addTask {
          try await Task.sleep(until: start + Self.pause * (index / 2), clock: .continuous)
          _ = try await friends.categories()
        }
      }
      var answers = 0
      for try await _ in group {
        answers += 1
        stage.progress("\(Stage.bar(answers, of: Self.calls))  \(answers) answers")
      }
    }
  }
}
