extension FriendStore {
  private static let firstNames = [
    "Ada", "Bruno", "Chidi", "Dana", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kaja", "Luca", "Mei",
  ]
  private static let lastNames = ["Novak", "Okafor", "Lind", "Sato", "Weber", "Costa", "Haddad"]
  private static let categories: [String?] = ["family", "work", nil, "sport", nil]

  /// Adds friends to a new account, so that its list has several pages. The names are the same each time: 91 different
  /// names, then the same names with numbers.
  static func seed(_ count: Int, for account: Int64, in db: DatabaseConnection) throws {
    for index in 0..<max(0, count) {
      let friend = seeded(index)
      try db.execute(
        "INSERT INTO friends (account_id, name, email, category) VALUES (?, ?, ?, ?)",
        [account, friend.name, friend.email, friend.category])
    }
  }

  /// Returns the first names of new accounts' friends.
  static func seededNames(_ count: Int) -> [String] { (0..<count).map { seeded($0).name } }

  /// Returns the values of a friend. The lengths of the lists of names are coprime, so every pair of first and last
  /// name is used once before a pair is repeated.
  private static func seeded(_ index: Int) -> (name: String, email: String, category: String?) {
    let first = firstNames[index % firstNames.count]
    let last = lastNames[index % lastNames.count]
    let round = index / (firstNames.count * lastNames.count)
    let suffix = round == 0 ? "" : " \(round + 1)"
    let email = "\(first).\(last)\(round == 0 ? "" : "\(round + 1)")@example.com".lowercased()
    return ("\(first) \(last)\(suffix)", email, categories[index % categories.count])
  }
}
