import Foundation
import HTTPTypes

/// A friend of an account.
struct Friend: Codable, Sendable, Equatable {
  let id: Int64
  let name: String
  let email: String?
  let category: String?

  /// Encodes missing values as `null`.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(email, forKey: .email)
    try container.encode(category, forKey: .category)
  }
}

extension Friend: RowConvertible {
  init(row: Row) throws {
    (id, name) = (try row.get("id"), try row.get("name"))
    (email, category) = (try row.get("email"), try row.get("category"))
  }
}

/// A category and the number of friends in it.
struct FriendCategory: Codable, Sendable, Equatable {
  let name: String
  let count: Int
}

extension FriendCategory: RowConvertible {
  init(row: Row) throws {
    (name, count) = (try row.get("name"), try row.get("count"))
  }
}

/// The friends of all accounts in the database.
struct FriendStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date

  /// Returns a page of an account's friends, oldest first.
  func page(_ request: PageRequest, category: String?, of account: Int64) async throws -> Page<Friend> {
    try await database.read { db in
      let filter = "account_id = ?1 AND (?2 IS NULL OR category = ?2)"
      let total = try db.number("SELECT COUNT(*) AS value FROM friends WHERE \(filter)", [account, category])
      let friends: [Friend] = try db.all(
        "SELECT * FROM friends WHERE \(filter) ORDER BY id LIMIT ?3 OFFSET ?4",
        [account, category, request.size, request.offset])
      return Page(items: friends, number: request.number, size: request.size, total: total)
    }
  }

  func friend(_ id: Int64, of account: Int64) async throws -> Friend? {
    try await database.read { db in
      try db.first("SELECT * FROM friends WHERE id = ? AND account_id = ?", [id, account])
    }
  }

  /// Adds a friend. A repeated idempotency key returns the friend of the first request, even after a removal.
  ///
  /// Runs in one transaction, so only the first of concurrent requests adds the friend.
  ///
  /// - Throws: `Problem` with status 422 when the key was used for another friend.
  func add(name: String, email: String?, key: IdempotencyKey?, to account: Int64) async throws -> Friend {
    let time = now().timeIntervalSince1970
    return try await database.write { db in
      if let key, let earlier = try Addition.find(key, of: account, at: time, in: db)?.friend {
        guard (earlier.name, earlier.email) == (name, email) else { throw Self.otherFriend }
        return earlier
      }
      try db.execute(
        "INSERT INTO friends (account_id, name, email) VALUES (?, ?, ?)", [account, name, email])
      let friend = Friend(id: db.lastInsertedRowID, name: name, email: email, category: nil)
      if let key { try Addition(friend: friend).store(key, of: account, at: time, in: db) }
      return friend
    }
  }

  private static let otherFriend = Problem(
    .unprocessableContent, "This Idempotency-Key was used for another friend.")

  /// Removes a friend. Returns whether the friend existed.
  func remove(_ id: Int64, of account: Int64) async throws -> Bool {
    try await database.write { db in
      try db.execute("DELETE FROM friends WHERE id = ? AND account_id = ?", [id, account])
      return db.changesCount > 0
    }
  }

  /// Moves a friend to a category, or out of all categories. Returns the friend; `nil` if the friend does not exist.
  func put(_ id: Int64, in category: String?, of account: Int64) async throws -> Friend? {
    try await database.write { db in
      try db.first(
        "UPDATE friends SET category = ? WHERE id = ? AND account_id = ? RETURNING *", [category, id, account])
    }
  }

  /// Returns an account's categories, sorted by name.
  func categories(of account: Int64) async throws -> [FriendCategory] {
    let sql = """
      SELECT category AS name, COUNT(*) AS count FROM friends
      WHERE account_id = ? AND category IS NOT NULL GROUP BY category ORDER BY category
      """
    return try await database.read { db in
      try db.all(sql, [account])
    }
  }
}

/// The result of the first request with an idempotency key.
struct Addition: Sendable {
  /// The lifetime of a key in seconds: one day.
  private static let lifetime = 24.0 * 3600

  let friend: Friend

  /// Returns the result of an account's earlier request with a key. Deletes expired keys.
  ///
  /// - Parameter time: the current time in seconds.
  static func find(
    _ key: IdempotencyKey, of account: Int64, at time: Double, in db: DatabaseConnection
  ) throws -> Addition? {
    try db.execute("DELETE FROM additions WHERE added_at <= ?", [time - lifetime])
    let sql = "SELECT friend_id, name, email FROM additions WHERE account_id = ? AND key_hash = ?"
    return try db.rows(sql, [account, key.hash]).first.map { row in
      Addition(
        friend: Friend(
          id: try row.get("friend_id"), name: try row.get("name"), email: try row.get("email"), category: nil))
    }
  }

  /// Stores the result of an account's first request with a key.
  func store(_ key: IdempotencyKey, of account: Int64, at time: Double, in db: DatabaseConnection) throws {
    try db.execute(
      "INSERT INTO additions (account_id, key_hash, friend_id, name, email, added_at) VALUES (?, ?, ?, ?, ?, ?)",
      [account, key.hash, friend.id, friend.name, friend.email, time])
  }
}
