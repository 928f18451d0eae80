public import Apus

/// A person's friends, as the app sees them: no server, no requests, only friends.
///
/// ``LiveFriendsService`` asks the server; a preview or a test writes its own.
public protocol FriendsService: Sendable {
  /// The first page, for a list that is shown. A newer call supersedes one that is still under way, which then
  /// throws as cancelled: tapping "reload" twice gives one result.
  func latestFriends(in category: String?) async throws(CallError) -> FriendsPage

  /// All pages, each fetched when the loop asks for it.
  func pages(in category: String?) -> any AsyncSequence<FriendsPage, CallError> & Sendable

  /// Adds a friend; a form that is not accepted is a value and no error.
  func add(_ friend: NewFriend) async throws(CallError) -> Outcome<Friend, FriendRejection>

  /// Takes a friend off the list.
  func remove(_ id: Friend.ID) async throws(CallError)

  /// Puts a friend in a group, or in none.
  func put(_ id: Friend.ID, in category: String?) async throws(CallError) -> Friend

  /// The groups in use, by name.
  func categories() async throws(CallError) -> [FriendCategory]
}
