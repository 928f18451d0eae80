import AccountsService
import Apus

/// Somebody signs in, with a wrong password at first; from then on every call is hers.
struct SignIn: Scene {
  let title = "Accounts: signing in"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    try await showFailure(.rejected, on: stage) {
      try await world.accounts.signIn(email: world.person.email, password: "correct hose")
    }
    try await world.accounts.signIn(email: world.person.email, password: world.person.password)
    let account = try await world.accounts.account()
    stage.say("Signed in as \(account.name).")
    stage.note("the app never saw a token; the log shows only its fingerprint, \(world.staging.fingerprint)")
    return [
      Claim(name: "sign-in", server: world.staging, subject: "POST /sessions", expected: "401, 201"),
      Claim(
        name: "signed-in-as", server: world.staging, subject: "GET /accounts/me", expected: world.staging.fingerprint,
        summary: Claim.credentials),
    ]
  }
}
