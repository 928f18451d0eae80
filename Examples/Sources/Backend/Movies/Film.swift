import GRDB

/// The facts about a film.
struct Film: Sendable, Equatable {
  let id: Int64
  let title: String
  let year: Int
  let minutes: Int
  let rating: Double
  let votes: Int
  /// In US dollars, if known.
  let budget: Int?
  let genres: GenreSet
}

extension Film: FetchableRecord {
  init(row: Row) throws {
    id = row["id"]
    title = row["title"]
    year = row["year"]
    minutes = row["minutes"]
    rating = row["rating"]
    votes = row["votes"]
    budget = row["budget"]
    genres = GenreSet(rawValue: row["genres"])
  }
}
