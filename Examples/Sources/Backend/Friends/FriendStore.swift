import Foundation
import GRDB
import HTTPTypes

/// The friends in the database, each account's own.
struct FriendStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date

  /// A page of an account's friends, in the order in which they were added.
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

  /// Adds a friend to an account's list, with a key only once: later requests are told what the first one was, also
  /// when the friend was removed since.
  ///
  /// All in one transaction, and there is one at a time: of requests that come together the first adds the friend.
  ///
  /// - Throws: `Problem` with status 422 when the key came with another friend before.
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
      if let key { try Addition(friend: friend).note(key, of: account, at: time, in: db) }
      return friend
    }
  }

  private static let otherFriend = Problem(
    .unprocessableContent, "This Idempotency-Key came with another friend before.")

  /// Takes a friend off an account's list; whether there was one.
  func remove(_ id: Int64, of account: Int64) async throws -> Bool {
    try await database.pool.write { db in
      try db.execute(sql: "DELETE FROM friends WHERE id = ? AND account_id = ?", arguments: [id, account])
      return db.changesCount > 0
    }
  }

  /// Puts a friend in a category, or in none; the friend, if there is one.
  func put(_ id: Int64, in category: String?, of account: Int64) async throws -> Friend? {
    try await database.pool.write { db in
      try Friend.fetchOne(
        db, sql: "UPDATE friends SET category = ? WHERE id = ? AND account_id = ? RETURNING *",
        arguments: [category, id, account])
    }
  }

  /// The categories an account uses, by name.
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
