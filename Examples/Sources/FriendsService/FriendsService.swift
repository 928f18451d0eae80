public import Apus

/// The app's interface to a user's friends, without servers or requests.
///
/// ``LiveFriendsService`` calls the server; previews and tests use fakes.
public protocol FriendsService: Sendable {
  /// Returns the first page. A newer call supersedes an older one in flight, which then throws as cancelled, so tapping
  /// "reload" twice gives one result.
  func latestFriends(in category: String?) async throws(CallError) -> FriendsPage

  /// Returns the first page; without a network, the page that was stored earlier, marked as outdated.
  ///
  /// - Parameter reloading: whether only a response of the server will do, as for "pull to refresh".
  func friendsOnScreen(reloading: Bool) async throws(CallError) -> FriendsOnScreen

  /// Returns all pages. Each page is fetched when the loop reaches it.
  func pages(in category: String?) -> any AsyncSequence<FriendsPage, CallError> & Sendable

  /// Adds a friend. Returns a rejected form as a value; throws only when the call itself fails.
  func add(_ friend: NewFriend) async throws(CallError) -> Outcome<Friend, FriendRejection>

  /// Removes a friend.
  func remove(_ id: Friend.ID) async throws(CallError)

  /// Moves a friend to a group, or out of all groups.
  func put(_ id: Friend.ID, in category: String?) async throws(CallError) -> Friend

  /// Returns the groups in use, sorted by name.
  func categories() async throws(CallError) -> [FriendCategory]

  /// Returns the friends' activities as they happen, from now until the loop ends.
  func activity() -> any AsyncSequence<Activity, CallError> & Sendable

  /// Returns the pages of friends of friends, each with the position of the next page.
  ///
  /// - Parameter position: a stored position to begin at; `nil` for the first page.
  func friendsOfFriends(
    from position: PagePosition?
  ) -> any AsyncSequence<PositionedPage<FriendsOfFriends>, CallError> & Sendable
}
