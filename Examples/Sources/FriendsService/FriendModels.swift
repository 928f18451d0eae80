/// A friend on a user's list.
public struct Friend: Codable, Sendable, Hashable, Identifiable {
  /// The server's id of the friend.
  public let id: Int
  /// The name.
  public let name: String
  /// The e-mail address; `nil` when unknown.
  public let email: String?
  /// The friend's group; `nil` when ungrouped.
  public let category: String?

  /// Creates a friend, for previews and tests.
  public init(id: Int, name: String, email: String? = nil, category: String? = nil) {
    self.id = id
    self.name = name
    self.email = email
    self.category = category
  }
}

/// A group of friends.
public struct FriendCategory: Codable, Sendable, Hashable {
  /// The group's name.
  public let name: String
  /// The number of friends in the group.
  public let count: Int

  /// Creates a group, for previews and tests.
  public init(name: String, count: Int) {
    self.name = name
    self.count = count
  }
}

/// One page of the list of friends.
public struct FriendsPage: Codable, Sendable, Hashable {
  /// The friends, oldest first.
  public let items: [Friend]
  /// The page number, from 1.
  public let page: Int
  /// The number of pages; 0 for an empty list.
  public let totalPages: Int
  /// The number of friends on all pages.
  public let totalResults: Int

  /// Creates a page, for previews and tests.
  public init(items: [Friend], page: Int = 1, totalPages: Int = 1, totalResults: Int? = nil) {
    self.items = items
    self.page = page
    self.totalPages = totalPages
    self.totalResults = totalResults ?? items.count
  }

  /// Whether this is the last page.
  public var isLast: Bool { page >= totalPages }
}

/// The form that adds a friend.
public struct NewFriend: Codable, Sendable, Hashable {
  /// The name.
  public var name: String
  /// The e-mail address; `nil` when unknown.
  public var email: String?

  /// Creates a form.
  public init(name: String, email: String? = nil) {
    self.name = name
    self.email = email
  }
}

/// The server's reasons for rejecting a ``NewFriend``, one for each invalid input.
public struct FriendRejection: Decodable, Sendable, Hashable {
  /// The error of one input.
  public struct Problem: Decodable, Sendable, Hashable {
    /// The input's name: `name` or `email`.
    public let field: String
    /// The reason, for example `is empty`.
    public let message: String

    /// Creates a problem, for previews and tests.
    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  /// The errors; never empty.
  public let errors: [Problem]

  /// Creates a rejection, for previews and tests.
  public init(errors: [Problem]) {
    self.errors = errors
  }
}
