/// A stretch of a list of films.
public struct MoviePage: Codable, Sendable, Hashable {
  /// The films.
  public let results: [Movie]
  /// The page's number, from 1.
  public let page: Int
  /// How many pages the list has.
  public let totalPages: Int
  /// How many films are on all pages.
  public let totalResults: Int

  /// Makes a page, for previews and tests.
  public init(results: [Movie], page: Int = 1, totalPages: Int = 1, totalResults: Int? = nil) {
    self.results = results
    self.page = page
    self.totalPages = totalPages
    self.totalResults = totalResults ?? results.count
  }

  /// Whether no page follows. The API counts more pages than it gives: 500 is the last.
  public var isLast: Bool { page >= min(totalPages, 500) }
}
