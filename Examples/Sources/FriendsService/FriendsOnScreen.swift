public import Apus

/// The first page of friends, and how current it is.
public struct FriendsOnScreen: Sendable, Hashable {
  /// The first page.
  public let page: FriendsPage
  /// Whether the page was stored earlier and may have changed since, because the server could not be asked. A screen
  /// marks it as old.
  public let isOutdated: Bool

  /// Creates a value, for previews and tests.
  public init(page: FriendsPage, isOutdated: Bool = false) {
    self.page = page
    self.isOutdated = isOutdated
  }
}

extension LiveFriendsService {
  /// Fetches the first page. Without a network, the page that the client's cache has stored takes its place.
  public func friendsOnScreen(reloading: Bool) async throws(CallError) -> FriendsOnScreen {
    var request = Request<FriendsPage>.friends(page: 1, in: nil).latestWins("friends").priority(.high)
    if reloading { request = request.cache(.reload) }
    let response = try await client.response(to: request)
    return FriendsOnScreen(page: response.value, isOutdated: response.cacheStatus?.isStale ?? false)
  }
}
