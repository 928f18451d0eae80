/// Somebody on a person's list of friends.
public struct Friend: Codable, Sendable, Hashable, Identifiable {
  /// The server's number for the friend.
  public let id: Int
  /// The name.
  public let name: String
  /// The e-mail address, if it is known.
  public let email: String?
  /// The group the friend is in, if any.
  public let category: String?

  /// Makes a friend, for previews and tests.
  public init(id: Int, name: String, email: String? = nil, category: String? = nil) {
    self.id = id
    self.name = name
    self.email = email
    self.category = category
  }
}
