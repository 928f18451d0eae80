import AccountsService
import Apus

/// A session that is over, and renewed.
struct ExpiredToken: Scene {
  let title = "What goes wrong: an expired session"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    let server = world.fleeting
    let person = world.person
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: person.name, email: person.email, password: person.password))
    try await accounts.signIn(email: person.email, password: person.password)
    _ = try await accounts.account()
    stage.say("Ada is signed in; a token lasts a minute here. Two minutes later …")
    world.clock.leap(by: .seconds(120))
    try await showFailure(.rejected, on: stage) { try await accounts.account() }
    guard try await accounts.refresh() else { throw UnexpectedRejection() }
    stage.say("the session is renewed: \(try await accounts.account().name) is back")
    return [
      Claim(name: "expired", server: server, subject: "GET /accounts/me", expected: "200, 401, 200"),
      Claim(name: "renewed", server: server, subject: "POST /sessions/refresh", expected: "200"),
    ]
  }
}
