import Apus
import FriendsService

/// All friends, page after page.
struct LoadFriends: Scene {
  let title = "Friends: all of them, by pages"

  func play(in world: World) async throws -> [Claim] {
    var friends: [Friend] = []
    var (pages, total) = (0, 0)
    for try await page in world.friends.pages(in: nil) {
      friends += page.items
      (pages, total) = (pages + 1, page.totalResults)
      world.stage.progress(
        "\(Stage.bar(friends.count, of: page.totalResults))  \(friends.count) of \(page.totalResults)")
    }
    world.stage.settle("\(Stage.bar(1, of: 1))  \(friends.count) friends on \(pages) pages")
    world.stage.say(friends.prefix(4).map(\.name).joined(separator: ", ") + " …")
    return [
      Claim(name: "load-friends", server: world.staging, subject: "GET /friends", expected: "200 ×\(max(pages, 2))"),
      .app("all-friends", "friends shown", expected: "\(total)", shown: "\(Set(friends.map(\.id)).count)"),
    ]
  }
}
