public import Apus

/// One page of friends of friends.
public struct FriendsOfFriends: Codable, Sendable, Hashable {
  /// A friend of a friend.
  public struct Person: Codable, Sendable, Hashable {
    /// The name.
    public let name: String

    /// Creates a person, for previews and tests.
    public init(name: String) {
      self.name = name
    }
  }

  /// The people.
  public let items: [Person]
  /// The cursor of the next page; `nil` on the last page.
  let nextCursor: String?

  /// Creates a page, for previews and tests.
  public init(items: [Person]) {
    (self.items, nextCursor) = (items, nil)
  }
}

extension Endpoint where Self == Request<FriendsOfFriends> {
  static func friendsOfFriends(at cursor: String?) -> Self {
    .get("/friends/of-friends", query: ["cursor": cursor]).json(.snakeCase)
  }
}

extension LiveFriendsService {
  /// Fetches one page after another, from a stored position on.
  public func friendsOfFriends(
    from position: PagePosition?
  ) -> any AsyncSequence<PositionedPage<FriendsOfFriends>, CallError> & Sendable {
    client.pages(of: { .friendsOfFriends(at: $0) }, next: .cursor { $0.nextCursor }).resuming(at: position)
      .withPositions
  }
}
