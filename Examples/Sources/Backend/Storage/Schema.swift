/// The tables of the database.
enum Schema {
  /// The statements that create the tables of a new file.
  ///
  /// Tokens are stored as hashes, so the file cannot be used for signing in. They are issued in pairs, see
  /// ``SessionStore``. `additions` contains the friends that were added with an idempotency key; its rows do not
  /// reference the friend, so a repeated key adds no friend even after a removal.
  static let tables = """
    CREATE TABLE IF NOT EXISTS accounts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      email TEXT NOT NULL UNIQUE COLLATE NOCASE,
      password TEXT NOT NULL,
      created_at DOUBLE NOT NULL);
    CREATE TABLE IF NOT EXISTS sessions (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account_id INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
      pairs INTEGER NOT NULL DEFAULT 0,
      shown INTEGER NOT NULL DEFAULT 0,
      client TEXT);
    CREATE INDEX IF NOT EXISTS sessions_account ON sessions (account_id);
    CREATE TABLE IF NOT EXISTS access_tokens (
      hash BLOB NOT NULL PRIMARY KEY,
      session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
      pair INTEGER NOT NULL,
      expires_at DOUBLE NOT NULL);
    CREATE INDEX IF NOT EXISTS access_tokens_session ON access_tokens (session_id);
    CREATE TABLE IF NOT EXISTS refresh_tokens (
      hash BLOB NOT NULL PRIMARY KEY,
      session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
      pair INTEGER NOT NULL,
      expires_at DOUBLE NOT NULL);
    CREATE INDEX IF NOT EXISTS refresh_tokens_session ON refresh_tokens (session_id);
    CREATE TABLE IF NOT EXISTS friends (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account_id INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
      name TEXT NOT NULL,
      email TEXT,
      category TEXT);
    CREATE INDEX IF NOT EXISTS friends_account ON friends (account_id);
    CREATE TABLE IF NOT EXISTS additions (
      account_id INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
      key_hash BLOB NOT NULL,
      friend_id INTEGER NOT NULL,
      name TEXT NOT NULL,
      email TEXT,
      added_at DOUBLE NOT NULL,
      PRIMARY KEY (account_id, key_hash));
    CREATE INDEX IF NOT EXISTS additions_time ON additions (added_at);
    CREATE TABLE IF NOT EXISTS films (
      id INTEGER PRIMARY KEY,
      title TEXT NOT NULL,
      year INTEGER NOT NULL,
      minutes INTEGER NOT NULL,
      rating DOUBLE NOT NULL,
      votes INTEGER NOT NULL,
      budget INTEGER,
      genres INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS films_year ON films (year);
    CREATE INDEX IF NOT EXISTS films_votes ON films (votes);
    CREATE TABLE IF NOT EXISTS videos (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      film_id INTEGER NOT NULL,
      name TEXT NOT NULL,
      type TEXT NOT NULL,
      key TEXT NOT NULL UNIQUE);
    CREATE INDEX IF NOT EXISTS videos_film ON videos (film_id);
    CREATE TABLE IF NOT EXISTS events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL);
    """
}
