import Foundation
import GRDB
import HTTPTypes

/// A friend of an account.
struct Friend: Codable, FetchableRecord, Sendable, Equatable {
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

/// A category and the number of friends in it.
struct FriendCategory: Codable, FetchableRecord, Sendable, Equatable {
  let name: String
  let count: Int
}

/// The friends of all accounts in the database.
struct FriendStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date

  /// Returns a page of an account's friends, oldest first.
  func page(_ request: PageRequest, category: String?, of account: Int64) async throws -> Page<Friend> {
    try await database.pool.read { db in
      let filter = "account_id = :account AND (:category IS NULL OR category = :category)"
      let values: [String: (any DatabaseValueConvertible)?] = ["account": account, "category": category]
      let total = try Int.fetchOne(
        db, sql: "SELECT COUNT(*) FROM friends WHERE \(filter)", arguments: StatementArguments(values))
      let friends = try Friend.fetchAll(
        db, sql: "SELECT * FROM friends WHERE \(filter) ORDER BY id LIMIT :size OFFSET :offset",
        arguments: StatementArguments(
          values.merging(["size": request.size, "offset": request.offset]) { first, _ in first }))
      return Page(items: friends, number: request.number, size: request.size, total: total ?? 0)
    }
  }

  func friend(_ id: Int64, of account: Int64) async throws -> Friend? {
    try await database.pool.read { db in
      try Friend.fetchOne(
        db, sql: "SELECT * FROM friends WHERE id = ? AND account_id = ?", arguments: [id, account])
    }
  }

  /// Adds a friend. A repeated idempotency key returns the friend of the first request, even after a removal.
  ///
  /// Runs in one transaction, so only the first of concurrent requests adds the friend.
  ///
  /// - Throws: `Problem` with status 422 when the key was used for another friend.
  func add(name: String, email: String?, key: IdempotencyKey?, to account: Int64) async throws -> Friend {
    let time = now().timeIntervalSince1970
    return try await database.pool.write { db in
      if let key, let earlier = try Addition.find(key, of: account, at: time, in: db)?.friend {
        guard (earlier.name, earlier.email) == (name, email) else { throw Self.otherFriend }
        return earlier
      }
      try db.execute(
        sql: "INSERT INTO friends (account_id, name, email) VALUES (?, ?, ?)", arguments: [account, name, email])
      let friend = Friend(id: db.lastInsertedRowID, name: name, email: email, category: nil)
      if let key { try Addition(friend: friend).store(key, of: account, at: time, in: db) }
      return friend
    }
  }

  private static let otherFriend = Problem(
    .unprocessableContent, "This Idempotency-Key was used for another friend.")

  /// Removes a friend. Returns whether there was one.
  func remove(_ id: Int64, of account: Int64) async throws -> Bool {
    try await database.pool.write { db in
      try db.execute(sql: "DELETE FROM friends WHERE id = ? AND account_id = ?", arguments: [id, account])
      return db.changesCount > 0
    }
  }

  /// Moves a friend to a category, or out of all categories. Returns the friend; `nil` if there is none.
  func put(_ id: Int64, in category: String?, of account: Int64) async throws -> Friend? {
    try await database.pool.write { db in
      try Friend.fetchOne(
        db, sql: "UPDATE friends SET category = ? WHERE id = ? AND account_id = ? RETURNING *",
        arguments: [category, id, account])
    }
  }

  /// Returns an account's categories, sorted by name.
  func categories(of account: Int64) async throws -> [FriendCategory] {
    let sql = """
      SELECT category AS name, COUNT(*) AS count FROM friends
      WHERE account_id = ? AND category IS NOT NULL GROUP BY category ORDER BY category
      """
    return try await database.pool.read { db in
      try FriendCategory.fetchAll(db, sql: sql, arguments: [account])
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
    _ key: IdempotencyKey, of account: Int64, at time: Double, in db: GRDB.Database
  ) throws -> Addition? {
    try db.execute(sql: "DELETE FROM additions WHERE added_at <= ?", arguments: [time - lifetime])
    let sql = "SELECT friend_id, name, email FROM additions WHERE account_id = ? AND key_hash = ?"
    return try Row.fetchOne(db, sql: sql, arguments: [account, key.hash]).map { row in
      Addition(friend: Friend(id: row["friend_id"], name: row["name"], email: row["email"], category: nil))
    }
  }

  /// Stores the result of an account's first request with a key.
  func store(_ key: IdempotencyKey, of account: Int64, at time: Double, in db: GRDB.Database) throws {
    try db.execute(
      sql: "INSERT INTO additions (account_id, key_hash, friend_id, name, email, added_at) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [account, key.hash, friend.id, friend.name, friend.email, time])
  }
}
