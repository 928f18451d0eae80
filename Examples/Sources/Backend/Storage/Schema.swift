import GRDB

/// The tables, created by migrations in order.
enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("accounts", migrate: createAccounts)
    migrator.registerMigration("friends", migrate: createFriends)
    migrator.registerMigration("films", migrate: createFilms)
    migrator.registerMigration("pairs", migrate: countPairs)
    migrator.registerMigration("additions", migrate: createAdditions)
    migrator.registerMigration("videos", migrate: createVideos)
    migrator.registerMigration("events", migrate: createEvents)
    migrator.registerMigration("clients", migrate: addClients)
    return migrator
  }

  /// Tokens are stored as hashes, so the file is of no use for signing in.
  @Sendable
  private static func createAccounts(_ db: GRDB.Database) throws {
    try db.create(table: "accounts") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("name", .text).notNull()
      table.column("email", .text).notNull().unique().collate(.nocase)
      table.column("password", .text).notNull()
      table.column("created_at", .double).notNull()
    }
    try db.create(table: "sessions") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("account_id", .integer).notNull().indexed().references("accounts", onDelete: .cascade)
    }
    try db.create(table: "access_tokens") { table in
      table.primaryKey("hash", .blob)
      table.column("session_id", .integer).notNull().indexed().references("sessions", onDelete: .cascade)
      table.column("expires_at", .double).notNull()
    }
    try db.create(table: "refresh_tokens") { table in
      table.primaryKey("hash", .blob)
      table.column("session_id", .integer).notNull().indexed().references("sessions", onDelete: .cascade)
      table.column("used", .boolean).notNull().defaults(to: false)
    }
  }

  /// Groups tokens in pairs, see ``SessionStore``. Ends earlier sessions, for which token use was not recorded.
  @Sendable
  private static func countPairs(_ db: GRDB.Database) throws {
    for table in ["access_tokens", "refresh_tokens", "sessions"] { try db.execute(sql: "DELETE FROM \(table)") }
    try db.alter(table: "sessions") { table in
      table.add(column: "pairs", .integer).notNull().defaults(to: 0)
      table.add(column: "shown", .integer).notNull().defaults(to: 0)
    }
    try db.alter(table: "access_tokens") { table in
      table.add(column: "pair", .integer).notNull().defaults(to: 0)
    }
    try db.alter(table: "refresh_tokens") { table in
      table.drop(column: "used")
      table.add(column: "pair", .integer).notNull().defaults(to: 0)
      table.add(column: "expires_at", .double).notNull().defaults(to: 0)
    }
  }

  /// Adds the OAuth client that started a session.
  @Sendable
  private static func addClients(_ db: GRDB.Database) throws {
    try db.alter(table: "sessions") { table in table.add(column: "client", .text) }
  }

  @Sendable
  private static func createFriends(_ db: GRDB.Database) throws {
    try db.create(table: "friends") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("account_id", .integer).notNull().indexed().references("accounts", onDelete: .cascade)
      table.column("name", .text).notNull()
      table.column("email", .text)
      table.column("category", .text)
    }
  }

  /// Friends added with an idempotency key. The rows do not reference the friend, so a repeated key adds no friend
  /// even after a removal.
  @Sendable
  private static func createAdditions(_ db: GRDB.Database) throws {
    try db.create(table: "additions") { table in
      table.column("account_id", .integer).notNull().references("accounts", onDelete: .cascade)
      table.column("key_hash", .blob).notNull()
      table.column("friend_id", .integer).notNull()
      table.column("name", .text).notNull()
      table.column("email", .text)
      table.column("added_at", .double).notNull().indexed()
      table.primaryKey(["account_id", "key_hash"])
    }
  }

  @Sendable
  private static func createFilms(_ db: GRDB.Database) throws {
    try db.create(table: "films") { table in
      table.primaryKey("id", .integer)
      table.column("title", .text).notNull()
      table.column("year", .integer).notNull().indexed()
      table.column("minutes", .integer).notNull()
      table.column("rating", .double).notNull()
      table.column("votes", .integer).notNull().indexed()
      table.column("budget", .integer)
      table.column("genres", .integer).notNull()
    }
  }

  @Sendable
  private static func createVideos(_ db: GRDB.Database) throws {
    try db.create(table: "videos") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("film_id", .integer).notNull().indexed()
      table.column("name", .text).notNull()
      table.column("type", .text).notNull()
      table.column("key", .text).notNull().unique()
    }
  }

  @Sendable
  private static func createEvents(_ db: GRDB.Database) throws {
    try db.create(table: "events") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("name", .text).notNull()
    }
  }
}
