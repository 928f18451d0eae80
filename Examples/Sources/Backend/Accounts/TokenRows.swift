import GRDB

/// What the database knows of an access token.
struct AccessRow: Sendable {
  let principal: Principal
  /// Which of its session's pairs it belongs to.
  let pair: Int64
  let expiry: Double
  /// Whether no token of this pair or a later one was shown before.
  let isNew: Bool

  static func find(_ token: OpaqueToken, in db: GRDB.Database) throws -> AccessRow? {
    let sql = """
      SELECT accounts.*, sessions.id AS session, sessions.shown AS shown,
        access_tokens.pair AS pair, access_tokens.expires_at AS expires_at
      FROM access_tokens
      JOIN sessions ON sessions.id = access_tokens.session_id
      JOIN accounts ON accounts.id = sessions.account_id
      WHERE access_tokens.hash = ?
      """
    guard let row = try Row.fetchOne(db, sql: sql, arguments: [token.hash]) else { return nil }
    let pair: Int64 = row["pair"]
    let shown: Int64 = row["shown"]
    return AccessRow(
      principal: Principal(account: try Account(row: row), session: row["session"]), pair: pair,
      expiry: row["expires_at"], isNew: pair > shown)
  }
}

/// What the database knows of a refresh token.
struct RefreshRow: Sendable {
  let session: Int64
  let account: Int64
  /// Which of its session's pairs it belongs to.
  let pair: Int64
  /// The newest pair of which a token was shown.
  let shown: Int64
  let expiry: Double

  static func find(_ token: OpaqueToken, in db: GRDB.Database) throws -> RefreshRow? {
    let sql = """
      SELECT sessions.id AS session, sessions.account_id AS account, sessions.shown AS shown,
        refresh_tokens.pair AS pair, refresh_tokens.expires_at AS expires_at
      FROM refresh_tokens
      JOIN sessions ON sessions.id = refresh_tokens.session_id
      WHERE refresh_tokens.hash = ?
      """
    return try Row.fetchOne(db, sql: sql, arguments: [token.hash]).map { row in
      RefreshRow(
        session: row["session"], account: row["account"], pair: row["pair"], shown: row["shown"],
        expiry: row["expires_at"])
    }
  }
}
