import Apus

// Style: factories. Code completion lists them after `client.send(.`.
//
// The groups matter to clients with a cache: no list that was stored before a change is shown after it.

extension Endpoint where Self == Request<FriendsPage> {
  static func friends(page: Int, in category: String?) -> Self {
    .get("/friends", query: ["page": page, "category": category]).json(.snakeCase)
      .cacheGroups("friends")
  }
}

extension Endpoint where Self == Request<Friend> {
  /// Returns a request that can be retried safely even if the first attempt may have arrived: the server adds one
  /// friend for each idempotency key.
  static func addFriend(_ friend: NewFriend) -> Self {
    .post("/friends", content: .json(friend)).idempotencyKey().invalidates("friends")
  }

  static func putFriend(_ id: Friend.ID, in category: String?) -> Self {
    .put("/friends/\(id)/category", content: .json(CategoryChoice(category: category))).invalidates("friends")
  }
}

extension Endpoint where Self == Request<Void> {
  static func removeFriend(_ id: Friend.ID) -> Self { .delete("/friends/\(id)").invalidates("friends") }
}

extension Endpoint where Self == Request<[FriendCategory]> {
  static func friendCategories() -> Self { .get("/friends/categories").at("items").cacheGroups("friends") }
}

/// Encodes a missing group as `null`; the server rejects content without the member.
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
