import Foundation

/// The sessions and their tokens in the database.
///
/// Tokens are issued in pairs, numbered within their session. An access token stays valid until it expires, even after
/// a refresh, so that requests in flight succeed.
///
/// A client may crash before it has stored a new pair. A refresh token is therefore accepted again until a token of a
/// later pair is used: the refresh issues another pair and revokes the lost pair. A refresh token that is used later
/// may have been stolen, so its use ends the session (RFC 9700 §4.14.2).
///
/// A session started by an OAuth client can be refreshed and ended only by the same client.
struct SessionStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date
  let lifetimes: TokenLifetimes

  /// The result of validating a token.
  enum Judgment<Value: Sendable>: Sendable {
    case valid(Value)
    case expired
    case reused
    case unknown
  }

  /// The result of a refresh.
  struct Renewal: Sendable {
    let account: Int64
    let tokens: Tokens
  }

  /// A new session and its first tokens.
  struct Opening: Sendable {
    let session: Int64
    let tokens: Tokens
  }

  /// Starts a session.
  func start(for account: Account, client: String? = nil) async throws -> Opening {
    try await database.write { db in
      try db.execute(
        "INSERT INTO sessions (account_id, client) VALUES (?, ?)", [account.id, client])
      let session = db.lastInsertedRowID
      return Opening(session: session, tokens: try issue(session: session, in: db))
    }
  }

  /// Validates an access token.
  func principal(of token: OpaqueToken) async throws -> Judgment<Principal> {
    var row = try await database.read { db in try AccessRow.find(token, in: db) }
    // Only the first use of a pair is recorded. The row is read again in the transaction, because a refresh may have
    // revoked the token in the meantime.
    if row?.isNew == true { row = try await database.write { db in try recordedUse(of: token, in: db) } }
    guard let found = row else { return .unknown }
    return now().timeIntervalSince1970 < found.expiry ? .valid(found.principal) : .expired
  }

  /// Exchanges a refresh token for a new pair.
  func refresh(_ token: OpaqueToken, client: String? = nil) async throws -> Judgment<Renewal> {
    let time = now().timeIntervalSince1970
    return try await database.write { db in
      guard let found = try RefreshRow.find(token, in: db), found.client == client else { return .unknown }
      guard found.shown <= found.pair else {
        try db.execute("DELETE FROM sessions WHERE id = ?", [found.session])
        return .reused
      }
      guard time < found.expiry else { return .expired }
      // No token of a later pair was used, so the client did not receive those pairs.
      for table in ["access_tokens", "refresh_tokens"] {
        try db.execute(
          "DELETE FROM \(table) WHERE session_id = ? AND pair > ?", [found.session, found.pair])
      }
      try note(pair: found.pair, of: found.session, in: db)
      return .valid(Renewal(account: found.account, tokens: try issue(session: found.session, in: db)))
    }
  }

  /// Ends a session and revokes its tokens.
  func end(session: Int64) async throws {
    try await database.write { db in
      try db.execute("DELETE FROM sessions WHERE id = ?", [session])
    }
  }

  /// Ends the session of a refresh token, even a superseded one, or of an access token (RFC 7009 §2.1).
  func end(sessionOf token: OpaqueToken, client: String? = nil) async throws {
    let sql = """
      DELETE FROM sessions WHERE client IS ? AND id IN (
        SELECT session_id FROM refresh_tokens WHERE hash = ?
        UNION SELECT session_id FROM access_tokens WHERE hash = ?)
      """
    try await database.write { db in
      try db.execute(sql, [client, token.hash, token.hash])
    }
  }

  // MARK: In a transaction

  /// Records the use of an access token, even an expired one: it proves that the client received the pair.
  private func recordedUse(of token: OpaqueToken, in db: DatabaseConnection) throws -> AccessRow? {
    guard let found = try AccessRow.find(token, in: db) else { return nil }
    try note(pair: found.pair, of: found.principal.session, in: db)
    return found
  }

  private func note(pair: Int64, of session: Int64, in db: DatabaseConnection) throws {
    try db.execute("UPDATE sessions SET shown = MAX(shown, ?) WHERE id = ?", [pair, session])
  }

  private func issue(session: Int64, in db: DatabaseConnection) throws -> Tokens {
    let (access, refresh) = (OpaqueToken.random(), OpaqueToken.random())
    let seconds = lifetimes.access / .seconds(1)
    let time = now().timeIntervalSince1970
    try db.execute("UPDATE sessions SET pairs = pairs + 1 WHERE id = ?", [session])
    let pair = try db.number("SELECT pairs AS value FROM sessions WHERE id = ?", [session])
    try db.execute(
      "INSERT INTO access_tokens (hash, session_id, pair, expires_at) VALUES (?, ?, ?, ?)",
      [access.hash, session, pair, time + seconds])
    try db.execute(
      "INSERT INTO refresh_tokens (hash, session_id, pair, expires_at) VALUES (?, ?, ?, ?)",
      [refresh.hash, session, pair, time + lifetimes.refresh / .seconds(1)])
    return Tokens(
      accessToken: access.text, refreshToken: refresh.text, expiresIn: lifetimes.isSent ? seconds : nil)
  }
}

/// An access token in the database.
struct AccessRow: Sendable {
  let principal: Principal
  /// The number of the pair within the session.
  let pair: Int64
  let expiry: Double
  /// Whether no token of this pair or a later one was used before.
  let isNew: Bool

  static func find(_ token: OpaqueToken, in db: DatabaseConnection) throws -> AccessRow? {
    let sql = """
      SELECT accounts.*, sessions.id AS session, sessions.shown AS shown,
        access_tokens.pair AS pair, access_tokens.expires_at AS expires_at
      FROM access_tokens
      JOIN sessions ON sessions.id = access_tokens.session_id
      JOIN accounts ON accounts.id = sessions.account_id
      WHERE access_tokens.hash = ?
      """
    guard let row = try db.rows(sql, [token.hash]).first else { return nil }
    let (pair, shown): (Int64, Int64) = (try row.get("pair"), try row.get("shown"))
    return AccessRow(
      principal: Principal(account: try Account(row: row), session: try row.get("session")), pair: pair,
      expiry: try row.get("expires_at"), isNew: pair > shown)
  }
}

/// A refresh token in the database.
struct RefreshRow: Sendable {
  let session: Int64
  let account: Int64
  /// The OAuth client of the session; `nil` for a sign-in without OAuth.
  let client: String?
  /// The number of the pair within the session.
  let pair: Int64
  /// The number of the newest pair of which a token was used.
  let shown: Int64
  let expiry: Double

  static func find(_ token: OpaqueToken, in db: DatabaseConnection) throws -> RefreshRow? {
    let sql = """
      SELECT sessions.id AS session, sessions.account_id AS account, sessions.client AS client,
        sessions.shown AS shown, refresh_tokens.pair AS pair, refresh_tokens.expires_at AS expires_at
      FROM refresh_tokens
      JOIN sessions ON sessions.id = refresh_tokens.session_id
      WHERE refresh_tokens.hash = ?
      """
    return try db.rows(sql, [token.hash]).first.map { row in
      RefreshRow(
        session: try row.get("session"), account: try row.get("account"), client: try row.get("client"),
        pair: try row.get("pair"), shown: try row.get("shown"), expiry: try row.get("expires_at"))
    }
  }
}
