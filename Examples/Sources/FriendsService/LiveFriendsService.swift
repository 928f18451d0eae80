public import Apus

/// The friends on a client's server.
public struct LiveFriendsService: FriendsService {
  let client: Client

  /// Creates the service. The client has the server's address and the user's credentials.
  public init(client: Client) {
    self.client = client
  }

  /// Fetches the first page with high priority; a newer call supersedes an older one.
  public func latestFriends(in category: String?) async throws(CallError) -> FriendsPage {
    try await client.send(.friends(page: 1, in: category).latestWins("friends").priority(.high))
  }

  /// Fetches one page after another.
  public func pages(in category: String?) -> any AsyncSequence<FriendsPage, CallError> & Sendable {
    client.pages(of: { .friends(page: $0, in: category) }, next: .number { !$0.isLast })
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
