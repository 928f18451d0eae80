import AccountsService
import Apus
import Backend
import FriendsService

/// A server adds a friend, and its answer is lost on the way. Whether it may be asked again is a matter of a key.
struct AddOnce: Scene {
  let title = "Friends: a lost answer, and a friend who is added once"

  private static let call = "POST /friends"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, person) = (world.stage, world.fleeting, world.person)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    let friends = LiveFriendsService(client: server.client)
    try await accounts.signIn(email: person.email, password: person.password)
    let before = try await friends.latestFriends(in: nil).totalResults
    world.lost.lose(Self.call)
    stage.say("The server adds a friend, and its answer is lost. Without a key nobody may ask again:")
    let error = try await showFailure(.rejected, on: stage) {
      try await server.client.send(.addFriendWithoutKey(NewFriend(name: "Edsger")))
    }
    stage.note("for developers: \(error)")
    world.lost.lose(Self.call)
    guard case .accepted(let grace) = try await friends.add(NewFriend(name: "Grace")) else {
      throw UnexpectedRejection()
    }
    let added = try await friends.latestFriends(in: nil).totalResults - before
    stage.say("With a key it is asked again: \(grace.name) is there, once, and nobody noticed")
    return [
      Claim(name: "lost-answers", server: server, subject: Self.call, expected: "502 ×2, 201"),
      Claim(
        name: "one-key", server: server, subject: Self.call, expected: "1 without, 2 with the same",
        summary: Claim.keys),
      .app("added-once", "friends that three requests added", expected: "2", shown: "\(added)"),
    ]
  }
}
