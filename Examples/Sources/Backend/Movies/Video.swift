import GRDB

/// A video of a film: a row of the table `videos`.
///
/// The data set has no videos, so these are generated when the database is seeded.
struct Video: Codable, FetchableRecord, Sendable {
  let name: String
  let type: String
  let key: String

  /// Adds a trailer for every film, and a teaser and a featurette for films with many votes.
  static func seed(_ films: [Film], in db: GRDB.Database) throws {
    let statement = try db.makeStatement(sql: "INSERT INTO videos (film_id, name, type, key) VALUES (?, ?, ?, ?)")
    for film in films {
      for (type, votes) in [("Trailer", 0), ("Teaser", 10_000), ("Featurette", 50_000)] where film.votes >= votes {
        let key = "\(film.id)-\(type.lowercased())"
        try statement.execute(arguments: [film.id, "\(film.title): \(type)", type, key])
      }
    }
  }
}
