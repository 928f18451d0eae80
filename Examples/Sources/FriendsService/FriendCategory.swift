/// A group of friends.
public struct FriendCategory: Codable, Sendable, Hashable {
  /// The group's name.
  public let name: String
  /// How many friends are in it.
  public let count: Int

  /// Makes a group, for previews and tests.
  public init(name: String, count: Int) {
    self.name = name
    self.count = count
  }
}
