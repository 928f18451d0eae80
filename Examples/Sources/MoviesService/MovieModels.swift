/// A movie in a list.
public struct Movie: Codable, Sendable, Hashable, Identifiable {
  /// The movie's id.
  public let id: Int
  /// The title.
  public let title: String
  /// A summary of the plot; `nil` when unknown.
  public let overview: String?
  /// The release date, for example `1994-09-23`; `nil` or empty when unknown.
  public let releaseDate: String?
  /// The average rating, from 0 to 10.
  public let voteAverage: Double?
  /// The path of the poster; `nil` when there is none.
  public var posterPath: String?

  /// Creates a movie, for previews and tests.
  public init(id: Int, title: String, overview: String? = nil, releaseDate: String? = nil, voteAverage: Double? = nil) {
    self.id = id
    self.title = title
    self.overview = overview
    self.releaseDate = releaseDate
    self.voteAverage = voteAverage
  }

  /// The release year; `nil` when unknown.
  public var year: Int? { releaseDate.flatMap { Int($0.prefix(4)) } }
}

/// One page of a list of movies.
public struct MoviePage: Codable, Sendable, Hashable {
  /// The movies.
  public let results: [Movie]
  /// The page number, from 1.
  public let page: Int
  /// The number of pages.
  public let totalPages: Int
  /// The number of movies on all pages.
  public let totalResults: Int

  /// Creates a page, for previews and tests.
  public init(results: [Movie], page: Int = 1, totalPages: Int = 1, totalResults: Int? = nil) {
    self.results = results
    self.page = page
    self.totalPages = totalPages
    self.totalResults = totalResults ?? results.count
  }

  /// Whether this is the last page. The API serves at most 500 pages, even if it reports more.
  public var isLast: Bool { page >= min(totalPages, 500) }
}

/// The details of one movie.
public struct MovieDetails: Codable, Sendable, Hashable, Identifiable {
  /// A genre.
  public struct Genre: Codable, Sendable, Hashable, Identifiable {
    /// The genre's id.
    public let id: Int
    /// The genre's name.
    public let name: String
  }

  /// The movie's id.
  public let id: Int
  /// The title.
  public let title: String
  /// The running time in minutes; `nil` when unknown.
  public let runtime: Int?
  /// The genres.
  public let genres: [Genre]
}
