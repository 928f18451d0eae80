import Foundation
import GRDB

/// The sessions and their tokens in the database.
///
/// Tokens come in pairs, which each session counts. An access token is good until its time is over, also when there is
/// a newer one, so requests under way are not disturbed.
///
/// A client may die before it has stored a new pair. So a refresh token is taken again as long as no token of a later
/// pair was ever shown: it gives another pair, and the one that was lost is void. One that comes when a later token was
/// shown already may be a stolen one, so it ends its session (RFC 9700, section 4.14.2).
struct SessionStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date
  let lifetimes: TokenLifetimes

  /// What became of a token that a client showed.
  enum Judgement<Value: Sendable>: Sendable {
    case valid(Value)
    case expired
    case reused
    case unknown
  }

  /// New tokens, and whose they are.
  struct Renewal: Sendable {
    let account: Int64
    let tokens: Tokens
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
    var row = try await database.pool.read { db in try AccessRow.find(token, in: db) }
    // Noted once for each pair. A refresh may have made it void since it was found, so it is looked for again.
    if row?.isNew == true { row = try await database.pool.write { db in try noted(token, in: db) } }
    guard let found = row else { return .unknown }
    return now().timeIntervalSince1970 < found.expiry ? .valid(found.principal) : .expired
  }

  /// Exchanges a refresh token for a new pair of tokens.
  func refresh(_ token: OpaqueToken) async throws -> Judgement<Renewal> {
    let time = now().timeIntervalSince1970
    return try await database.pool.write { db in
      guard let found = try RefreshRow.find(token, in: db) else { return .unknown }
      guard found.shown <= found.pair else {
        try db.execute(sql: "DELETE FROM sessions WHERE id = ?", arguments: [found.session])
        return .reused
      }
      guard time < found.expiry else { return .expired }
      // What it gave before never arrived: nobody has shown it.
      for table in ["access_tokens", "refresh_tokens"] {
        try db.execute(
          sql: "DELETE FROM \(table) WHERE session_id = ? AND pair > ?", arguments: [found.session, found.pair])
      }
      try note(pair: found.pair, of: found.session, in: db)
      return .valid(Renewal(account: found.account, tokens: try issue(session: found.session, in: db)))
    }
  }

  /// Ends a session with all its tokens.
  func end(session: Int64) async throws {
    try await database.pool.write { db in
      try db.execute(sql: "DELETE FROM sessions WHERE id = ?", arguments: [session])
    }
  }

  /// Ends the session of a refresh token, also of one that gave others already (RFC 7009, section 2.1).
  func end(sessionOf token: OpaqueToken) async throws {
    let sql = "DELETE FROM sessions WHERE id = (SELECT session_id FROM refresh_tokens WHERE hash = ?)"
    try await database.pool.write { db in try db.execute(sql: sql, arguments: [token.hash]) }
  }

  // MARK: In a transaction

  /// Notes that an access token was shown, also when that was too late: whoever shows it has the pair.
  private func noted(_ token: OpaqueToken, in db: GRDB.Database) throws -> AccessRow? {
    guard let found = try AccessRow.find(token, in: db) else { return nil }
    try note(pair: found.pair, of: found.principal.session, in: db)
    return found
  }

  private func note(pair: Int64, of session: Int64, in db: GRDB.Database) throws {
    try db.execute(sql: "UPDATE sessions SET shown = MAX(shown, ?) WHERE id = ?", arguments: [pair, session])
  }

  private func issue(session: Int64, in db: GRDB.Database) throws -> Tokens {
    let (access, refresh) = (OpaqueToken.random(), OpaqueToken.random())
    let seconds = lifetimes.access / .seconds(1)
    let time = now().timeIntervalSince1970
    try db.execute(sql: "UPDATE sessions SET pairs = pairs + 1 WHERE id = ?", arguments: [session])
    let pair = try Int64.fetchOne(db, sql: "SELECT pairs FROM sessions WHERE id = ?", arguments: [session])
    try db.execute(
      sql: "INSERT INTO access_tokens (hash, session_id, pair, expires_at) VALUES (?, ?, ?, ?)",
      arguments: [access.hash, session, pair, time + seconds])
    try db.execute(
      sql: "INSERT INTO refresh_tokens (hash, session_id, pair, expires_at) VALUES (?, ?, ?, ?)",
      arguments: [refresh.hash, session, pair, time + lifetimes.refresh / .seconds(1)])
    return Tokens(
      accessToken: access.text, refreshToken: refresh.text, expiresIn: lifetimes.isTold ? seconds : nil)
  }
}
