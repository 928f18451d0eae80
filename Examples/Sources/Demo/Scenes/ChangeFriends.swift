import Apus
import FriendsService

/// A friend comes, is put in a group, and goes.
struct ChangeFriends: Scene {
  let title = "Friends: add, group, remove"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    guard case .accepted(let grace) = try await world.friends.add(NewFriend(name: "Grace", email: "grace@example.com"))
    else { throw UnexpectedRejection() }
    stage.say("added \(grace.name)")
    let grouped = try await world.friends.put(grace.id, in: "chess & tea")
    stage.say("put her in “\(grouped.category ?? "")”")
    let groups = try await world.friends.categories()
    stage.say("groups: " + groups.map { "\($0.name) (\($0.count))" }.joined(separator: ", "))
    try await world.friends.remove(grace.id)
    stage.say("removed her again")
    return [
      Claim(name: "add-friend", server: world.staging, subject: "POST /friends", expected: "201"),
      Claim(
        name: "group-friend", server: world.staging, subject: "PUT /friends/\(grace.id)/category", expected: "200"),
      Claim(name: "groups", server: world.staging, subject: "GET /friends/categories", expected: "200"),
      Claim(name: "remove-friend", server: world.staging, subject: "DELETE /friends/\(grace.id)", expected: "204"),
    ]
  }
}

/// A form that ought to have been accepted.
struct UnexpectedRejection: Error, CustomStringConvertible {
  let description = "a form that was right was rejected"
}
