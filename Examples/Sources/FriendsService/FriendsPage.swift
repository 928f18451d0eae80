/// A stretch of the list of friends.
public struct FriendsPage: Codable, Sendable, Hashable {
  /// The friends, in the order in which they were added.
  public let items: [Friend]
  /// The page's number, from 1.
  public let page: Int
  /// How many pages there are; an empty list has none.
  public let totalPages: Int
  /// How many friends there are on all pages.
  public let totalResults: Int

  /// Makes a page, for previews and tests.
  public init(items: [Friend], page: Int = 1, totalPages: Int = 1, totalResults: Int? = nil) {
    self.items = items
    self.page = page
    self.totalPages = totalPages
    self.totalResults = totalResults ?? items.count
  }

  /// Whether no page follows.
  public var isLast: Bool { page >= totalPages }
}
