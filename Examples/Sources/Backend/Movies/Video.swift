/// A video of a film: a row of the table `videos`.
///
/// The data set has no videos, so these are generated when the database is seeded.
struct Video: Sendable {
  let name: String
  let type: String
  let key: String

  /// Adds a trailer for every film, and a teaser and a featurette for films with many votes.
  static func seed(_ films: [Film], in db: DatabaseConnection) throws {
    let statement = try db.prepare("INSERT INTO videos (film_id, name, type, key) VALUES (?, ?, ?, ?)")
    for film in films {
      for (type, votes) in [("Trailer", 0), ("Teaser", 10_000), ("Featurette", 50_000)] where film.votes >= votes {
        let key = "\(film.id)-\(type.lowercased())"
        try statement.execute([film.id, "\(film.title): \(type)", type, key])
      }
    }
  }
}

extension Video: RowConvertible {
  init(row: Row) throws {
    (name, type, key) = (try row.get("name"), try row.get("type"), try row.get("key"))
  }
}
