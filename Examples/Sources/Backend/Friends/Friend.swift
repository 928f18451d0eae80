import GRDB

/// One of an account's friends.
struct Friend: Codable, FetchableRecord, Sendable, Equatable {
  let id: Int64
  let name: String
  let email: String?
  let category: String?

  /// Spelled out, so that members without a value are `null` and not missing.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(email, forKey: .email)
    try container.encode(category, forKey: .category)
  }
}

/// A category and how many friends are in it.
struct FriendCategory: Codable, FetchableRecord, Sendable, Equatable {
  let name: String
  let count: Int
}
