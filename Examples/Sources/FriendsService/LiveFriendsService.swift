public import Apus

/// The friends on the server that a client talks to.
public struct LiveFriendsService: FriendsService {
  private let client: Client

  /// Makes the service. The client brings the server's address and the person's credentials.
  public init(client: Client) {
    self.client = client
  }

  /// Fetches the first page, ahead of what waits for its turn; a newer call supersedes an older one.
  public func latestFriends(in category: String?) async throws(CallError) -> FriendsPage {
    try await client.send(.friends(page: 1, in: category).latestWins("friends").priority(.high))
  }

  /// Fetches page after page.
  public func pages(in category: String?) -> any AsyncSequence<FriendsPage, CallError> & Sendable {
    client.pages(until: \.isLast) { .friends(page: $0, in: category) }
  }

  /// Sends the form.
  public func add(_ friend: NewFriend) async throws(CallError) -> Outcome<Friend, FriendRejection> {
    try await client.outcome(of: .addFriend(friend), rejectedAs: FriendRejection.self)
  }

  /// Removes a friend.
  public func remove(_ id: Friend.ID) async throws(CallError) {
    try await client.send(.removeFriend(id))
  }

  /// Changes a friend's group.
  public func put(_ id: Friend.ID, in category: String?) async throws(CallError) -> Friend {
    try await client.send(.putFriend(id, in: category))
  }

  /// Fetches the groups.
  public func categories() async throws(CallError) -> [FriendCategory] {
    try await client.send(.friendCategories())
  }
}
