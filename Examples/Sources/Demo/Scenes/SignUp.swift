import AccountsService
import Apus

/// Somebody fills in a form, wrongly at first.
struct SignUp: Scene {
  let title = "Accounts: signing up"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    var form = SignUpForm(name: world.person.name, email: "ada", password: "short")
    stage.say("Ada fills in the form …")
    if case .rejected(let rejection) = try await world.accounts.signUp(form) {
      for error in rejection.errors { stage.say("    \(error.field) \(error.message)") }
    }
    form.email = world.person.email
    form.password = world.person.password
    stage.say("… and corrects it.")
    if case .accepted(let account) = try await world.accounts.signUp(form) {
      stage.say("Welcome, \(account.name)!")
    }
    return [Claim(name: "sign-up", server: world.staging, subject: "POST /accounts", expected: "422, 201")]
  }
}
