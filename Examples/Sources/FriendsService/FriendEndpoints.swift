import Apus

// Style: factories. Behind `client.send(.` the completion lists all of them.

extension Endpoint where Self == Request<FriendsPage> {
  static func friends(page: Int, in category: String?) -> Self {
    .get("/friends", query: ["page": page, "category": category]).json(.snakeCase)
  }
}

extension Endpoint where Self == Request<Friend> {
  /// With a key, so that it can be tried again when nobody knows whether it arrived: the server adds one friend.
  static func addFriend(_ friend: NewFriend) -> Self {
    .post("/friends", content: .json(friend)).idempotencyKey()
  }

  static func putFriend(_ id: Friend.ID, in category: String?) -> Self {
    .put("/friends/\(id)/category", content: .json(CategoryChoice(category: category)))
  }
}

extension Endpoint where Self == Request<Void> {
  static func removeFriend(_ id: Friend.ID) -> Self { .delete("/friends/\(id)") }
}

extension Endpoint where Self == Request<[FriendCategory]> {
  static func friendCategories() -> Self { .get("/friends/categories").at("items") }
}

/// Spelled out, so that no group is sent as `null`: without the member the server would refuse.
private struct CategoryChoice: Encodable, Sendable {
  let category: String?

  private enum CodingKeys: CodingKey {
    case category
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(category, forKey: .category)
  }
}
