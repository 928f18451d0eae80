import Foundation

/// A user's account.
struct Account: Codable, Sendable, Equatable {
  let id: Int64
  let name: String
  let email: String
}

extension Account: RowConvertible {
  init(row: Row) throws {
    (id, name, email) = (try row.get("id"), try row.get("name"), try row.get("email"))
  }
}

/// The accounts in the database.
struct AccountStore: Sendable {
  let database: Database
  let now: @Sendable () -> Date
  /// scrypt's N for new passwords.
  let hashRounds: Int
  /// The number of friends of a new account.
  let friends: Int

  /// Adds an account.
  ///
  /// - Throws: `Problem` with status 409 when the e-mail address is taken.
  func add(name: String, email: String, password: String) async throws -> Account {
    let hash = try await hash(of: password).text
    let time = now().timeIntervalSince1970
    do {
      return try await database.write { db in
        try db.execute(
          "INSERT INTO accounts (name, email, password, created_at) VALUES (?, ?, ?, ?)",
          [name, email, hash, time])
        let account = Account(id: db.lastInsertedRowID, name: name, email: email)
        try FriendStore.seed(friends, for: account.id, in: db)
        return account
      }
    } catch let error as DatabaseError where error.code == DatabaseError.notUnique {
      throw Problem.conflict("There is an account with this e-mail address.")
    }
  }

  /// Returns the account with an e-mail address if the password is correct.
  func account(email: String, password: String) async throws -> Account? {
    let found = try await database.read { db in
      try db.rows("SELECT * FROM accounts WHERE email = ?", [email]).first
        .map { try (Account(row: $0), PasswordHash(text: $0.get("password"))) }
    }
    guard let (account, hash) = found, let hash else {
      // Hashing takes as long as the comparison with a wrong password, so that timing does not reveal which addresses
      // have accounts.
      _ = try await self.hash(of: password)
      return nil
    }
    return try await matches(hash, password) ? account : nil
  }

  @concurrent
  private func hash(of password: String) async throws -> PasswordHash {
    try PasswordHash(of: password, rounds: hashRounds)
  }

  @concurrent
  private func matches(_ hash: PasswordHash, _ password: String) async throws -> Bool {
    try hash.matches(password)
  }
}
