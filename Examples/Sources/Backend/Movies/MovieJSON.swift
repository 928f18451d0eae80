/// A film in a list, in the format of TheMovieDB's API. Unknown values are `null`.
struct MovieSummary: Encodable, Sendable {
  let film: Film

  private enum CodingKeys: String, CodingKey {
    case adult, id, overview, popularity, title, video
    case backdropPath, genreIds, originalLanguage, originalTitle, posterPath, releaseDate, voteAverage, voteCount
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(false, forKey: .adult)
    try container.encodeNil(forKey: .backdropPath)
    try container.encode(film.genres.genres.map(\.rawValue), forKey: .genreIds)
    try container.encode(film.id, forKey: .id)
    try container.encodeNil(forKey: .originalLanguage)
    try container.encode(film.title, forKey: .originalTitle)
    try container.encodeNil(forKey: .overview)
    try container.encode(film.popularity, forKey: .popularity)
    try container.encode(film.posterPath, forKey: .posterPath)
    try container.encode(film.releaseDate, forKey: .releaseDate)
    try container.encode(film.title, forKey: .title)
    try container.encode(false, forKey: .video)
    try container.encode(film.rating, forKey: .voteAverage)
    try container.encode(film.votes, forKey: .voteCount)
  }
}

/// The details of a film: the members of a list item and more, with the genres' names instead of their ids.
struct MovieDetails: Encodable, Sendable {
  let film: Film

  private struct NamedGenre: Encodable {
    let id: Int
    let name: String
  }

  private enum CodingKeys: String, CodingKey {
    case adult, budget, genres, homepage, id, overview, popularity, revenue, runtime, status, tagline, title, video
    case backdropPath, belongsToCollection, imdbId, originalLanguage, originalTitle, posterPath, productionCompanies
    case productionCountries, releaseDate, spokenLanguages, voteAverage, voteCount
  }

  private static let unknown: [CodingKeys] = [
    .backdropPath, .belongsToCollection, .homepage, .imdbId, .originalLanguage, .overview, .tagline,
  ]
  private static let unknownLists: [CodingKeys] = [.productionCompanies, .productionCountries, .spokenLanguages]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    for key in Self.unknown { try container.encodeNil(forKey: key) }
    for key in Self.unknownLists { try container.encode([String](), forKey: key) }
    try container.encode(false, forKey: .adult)
    try container.encode(film.budget ?? 0, forKey: .budget)
    try container.encode(film.genres.genres.map { NamedGenre(id: $0.rawValue, name: $0.name) }, forKey: .genres)
    try container.encode(film.id, forKey: .id)
    try container.encode(film.title, forKey: .originalTitle)
    try container.encode(film.popularity, forKey: .popularity)
    try container.encode(film.posterPath, forKey: .posterPath)
    try container.encode(film.releaseDate, forKey: .releaseDate)
    try container.encode(0, forKey: .revenue)
    try container.encode(film.minutes, forKey: .runtime)
    try container.encode("Released", forKey: .status)
    try container.encode(film.title, forKey: .title)
    try container.encode(false, forKey: .video)
    try container.encode(film.rating, forKey: .voteAverage)
    try container.encode(film.votes, forKey: .voteCount)
  }
}

extension Film {
  /// January 1 of the year, because the data set contains only the year.
  fileprivate var releaseDate: String { "\(year)-01-01" }

  fileprivate var popularity: Double { Double(votes) / 1000 }
}
