/// The films in the database.
struct FilmStore: Sendable {
  let database: Database

  /// A list of films.
  enum List: Sendable {
    case popular
    case nowPlaying
    case search(String)
  }

  /// Fills an empty database with the bundled films and their videos.
  func seed() async throws {
    let films = try FilmFile.load()
    try await database.write { db in
      if try db.number("SELECT COUNT(*) AS value FROM films") != 0 { return }
      let statement = try db.prepare("INSERT INTO films VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      for film in films {
        try statement.execute([
          film.id, film.title, film.year, film.minutes, film.rating, film.votes, film.budget, film.genres.rawValue,
        ])
      }
      try Video.seed(films, in: db)
    }
  }

  func count() async throws -> Int {
    try await database.read { db in try db.number("SELECT COUNT(*) AS value FROM films") }
  }

  func film(_ id: Int64) async throws -> Film? {
    try await database.read { db in try db.first("SELECT * FROM films WHERE id = ?", [id]) }
  }

  /// Returns the videos of a film.
  func videos(of film: Film) async throws -> [Video] {
    try await database.read { db in try db.all("SELECT * FROM videos WHERE film_id = ? ORDER BY id", [film.id]) }
  }

  /// Returns a page of a list, the films with the most votes first.
  func page(_ request: PageRequest, of list: List) async throws -> Page<Film> {
    let (condition, arguments) = Self.condition(of: list)
    return try await database.read { db in
      let total = try db.number("SELECT COUNT(*) AS value FROM films WHERE \(condition)", arguments)
      let films: [Film] = try db.all(
        "SELECT * FROM films WHERE \(condition) ORDER BY votes DESC, id LIMIT ? OFFSET ?",
        arguments + [request.size, request.offset])
      return Page(items: films, number: request.number, size: request.size, total: total)
    }
  }

  /// Returns the newest two years in the data set.
  func newestYears() async throws -> ClosedRange<Int> {
    let newest = try await database.read { db in try db.number("SELECT MAX(year) AS value FROM films") }
    return newest - 1...newest
  }

  /// Returns films that share a genre, ordered by similarity of genres, then by votes.
  func recommendations(for film: Film, _ request: PageRequest) async throws -> Page<Film> {
    let candidates: [Film] = try await database.read { db in
      try db.all("SELECT * FROM films WHERE genres & ? != 0 AND id != ?", [film.genres.rawValue, film.id])
    }
    return request.page(of: Self.ranked(candidates, by: film.genres))
  }

  /// Orders films by similarity of genres, votes and id; the id makes the order total, so pages do not overlap.
  static func ranked(_ films: [Film], by genres: GenreSet) -> [Film] {
    films
      .map { (similarity: $0.genres.similarity(to: genres), film: $0) }
      .sorted { ($0.similarity, $0.film.votes, -$0.film.id) > ($1.similarity, $1.film.votes, -$1.film.id) }
      .map(\.film)
  }

  private static func condition(of list: List) -> (sql: String, arguments: [any ColumnConvertible]) {
    switch list {
    case .popular:
      return ("TRUE", [])
    case .nowPlaying:
      return ("year >= (SELECT MAX(year) FROM films) - 1", [])
    case .search(let text):
      // The title must contain every word.
      let words = text.split(whereSeparator: \.isWhitespace)
      guard !words.isEmpty else { return ("FALSE", []) }
      let patterns = words.map { "%\(escaped($0))%" }
      return (words.map { _ in #"title LIKE ? ESCAPE '\'"# }.joined(separator: " AND "), patterns)
    }
  }

  /// Escapes the wildcards of LIKE.
  private static func escaped(_ word: Substring) -> String {
    // Escaped by bytes, as SQLite compares them.
    String(decoding: word.utf8.flatMap { "\\%_".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }, as: UTF8.self)
  }
}
