import Foundation
import GRDB

/// A friend that was added with an idempotency key, as the first request with it was answered.
struct Addition: Sendable {
  /// How long keys are kept, in seconds: a day.
  private static let lifetime = 24.0 * 3600

  let friend: Friend

  /// What came of an earlier request of an account with a key.
  ///
  /// - Parameter time: the present one, in seconds: what is too old by then is forgotten.
  static func find(
    _ key: IdempotencyKey, of account: Int64, at time: Double, in db: GRDB.Database
  ) throws -> Addition? {
    try db.execute(sql: "DELETE FROM additions WHERE added_at <= ?", arguments: [time - lifetime])
    let sql = "SELECT friend_id, name, email FROM additions WHERE account_id = ? AND key_hash = ?"
    return try Row.fetchOne(db, sql: sql, arguments: [account, key.hash]).map { row in
      Addition(friend: Friend(id: row["friend_id"], name: row["name"], email: row["email"], category: nil))
    }
  }

  /// Keeps what came of the first request of an account with a key.
  func note(_ key: IdempotencyKey, of account: Int64, at time: Double, in db: GRDB.Database) throws {
    try db.execute(
      sql: "INSERT INTO additions (account_id, key_hash, friend_id, name, email, added_at) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [account, key.hash, friend.id, friend.name, friend.email, time])
  }
}
