import Apus
import FriendsService

/// A form that the server does not accept: taken as a value, beside the inputs.
struct InvalidForm: Scene {
  let title = "What goes wrong: a form that is not accepted"

  func play(in world: World) async throws -> [Claim] {
    if case .rejected(let rejection) = try await world.friends.add(NewFriend(name: "", email: "nowhere")) {
      for error in rejection.errors { world.stage.reads("\(error.field) \(error.message)", behind: "beside the input") }
    }
    return [Claim(name: "invalid-form", server: world.staging, subject: "POST /friends", expected: "422")]
  }
}
