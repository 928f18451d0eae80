import Foundation
import GRDB

/// The sessions and their tokens in the database.
///
/// A refresh token is good for one use. The access token before it goes on until its time is over, so requests under
/// way are not disturbed. A refresh token that comes a second time may be a stolen one, so it ends its session
/// (RFC 9700, section 4.14.2).
struct SessionStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date
  let lifetime: Duration

  /// What became of a token that a client showed.
  enum Judgement<Value: Sendable>: Sendable {
    case valid(Value)
    case expired
    case reused
    case unknown
  }

  /// Starts a session.
  func start(for account: Account) async throws -> Tokens {
    try await database.pool.write { db in
      try db.execute(sql: "INSERT INTO sessions (account_id) VALUES (?)", arguments: [account.id])
      return try issue(session: db.lastInsertedRowID, in: db)
    }
  }

  /// Whose access token this is.
  func principal(of token: OpaqueToken) async throws -> Judgement<Principal> {
    let sql = """
      SELECT accounts.*, sessions.id AS session, access_tokens.expires_at FROM access_tokens
      JOIN sessions ON sessions.id = access_tokens.session_id
      JOIN accounts ON accounts.id = sessions.account_id
      WHERE access_tokens.hash = ?
      """
    let time = now().timeIntervalSince1970
    return try await database.pool.read { db in
      guard let row = try Row.fetchOne(db, sql: sql, arguments: [token.hash]) else { return .unknown }
      let expiry: Double = row["expires_at"]
      return time < expiry ? .valid(Principal(account: try Account(row: row), session: row["session"])) : .expired
    }
  }

  /// Exchanges a refresh token for a new pair of tokens.
  func refresh(_ token: OpaqueToken) async throws -> Judgement<Tokens> {
    try await database.pool.write { db in
      let sql = "SELECT session_id, used FROM refresh_tokens WHERE hash = ?"
      guard let row = try Row.fetchOne(db, sql: sql, arguments: [token.hash]) else { return .unknown }
      let session: Int64 = row["session_id"]
      if row["used"] {
        try end(session: session, in: db)
        return .reused
      }
      try db.execute(sql: "UPDATE refresh_tokens SET used = 1 WHERE hash = ?", arguments: [token.hash])
      return .valid(try issue(session: session, in: db))
    }
  }

  /// Ends a session with all its tokens.
  func end(session: Int64) async throws {
    try await database.pool.write { db in try end(session: session, in: db) }
  }

  private func end(session: Int64, in db: GRDB.Database) throws {
    try db.execute(sql: "DELETE FROM sessions WHERE id = ?", arguments: [session])
  }

  private func issue(session: Int64, in db: GRDB.Database) throws -> Tokens {
    let access = OpaqueToken.random()
    let refresh = OpaqueToken.random()
    let seconds = lifetime / .seconds(1)
    try db.execute(
      sql: "INSERT INTO access_tokens (hash, session_id, expires_at) VALUES (?, ?, ?)",
      arguments: [access.hash, session, now().timeIntervalSince1970 + seconds])
    try db.execute(
      sql: "INSERT INTO refresh_tokens (hash, session_id) VALUES (?, ?)", arguments: [refresh.hash, session])
    return Tokens(accessToken: access.text, refreshToken: refresh.text, expiresIn: seconds)
  }
}
