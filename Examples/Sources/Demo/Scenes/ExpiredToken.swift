import AccountsService
import Apus

/// A session that is over for good: one sentence for the person, one event for the app, and only signing in helps.
struct ExpiredToken: Scene {
  let title = "What goes wrong: a session that is over"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, person) = (world.stage, world.fleeting, world.person)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    try await accounts.signIn(email: person.email, password: person.password)
    _ = try await accounts.account()
    let before = server.endedSessions.count
    stage.say("Ada is signed in; a session lasts a month without her here. Two months later …")
    world.clock.leap(by: .seconds(60 * 24 * 3600))
    try await showFailure(.declined, on: stage) { try await accounts.account() }
    let times = server.endedSessions.count - before
    stage.say("times the app was told to show its sign-in: \(times)")
    try await accounts.signIn(email: person.email, password: person.password)
    stage.say("\(try await accounts.account().name) signs in and is back")
    return [
      Claim(name: "expired", server: server, subject: "GET /accounts/me", expected: "200, 401, 200"),
      Claim(name: "not-renewed", server: server, subject: "POST /sessions/refresh", expected: "400"),
      .app("session-over", "told that somebody has to sign in", expected: "1", shown: "\(times)"),
    ]
  }
}
