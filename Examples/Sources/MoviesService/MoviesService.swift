public import Apus

/// Pages of movies; each page is fetched when the loop reaches it.
public typealias MoviePages = any AsyncSequence<MoviePage, CallError> & Sendable

/// The app's interface to movies.
///
/// ``LiveMoviesService`` calls a server; previews and tests use fakes.
public protocol MoviesService: Sendable {
  /// Returns the most popular movies.
  func popular() -> MoviePages

  /// Returns one page of the newest movies.
  ///
  /// - Parameter page: the page number, from 1.
  func newMovies(page: Int) async throws(CallError) -> MoviePage

  /// Returns movies similar to a movie.
  func recommendations(for id: Movie.ID) -> MoviePages

  /// Returns the first page of movies whose titles contain a text, for search as you type: a newer call supersedes an
  /// older one in flight, which then throws as cancelled.
  func search(_ text: String) async throws(CallError) -> MoviePage

  /// Returns the details of a movie.
  func details(of id: Movie.ID) async throws(CallError) -> MovieDetails

  /// Returns a movie's poster; `nil` if it has no poster. Posters have a low priority.
  func poster(of movie: Movie) async throws(CallError) -> Poster?

  /// Returns a movie's trailers and other videos.
  func videos(of id: Movie.ID) async throws(CallError) -> [Video]
}

extension MoviesService {
  /// Returns the first page of the most popular movies.
  public func mostPopular() async throws(CallError) -> [Movie] {
    for try await page in popular() { return page.results }
    return []
  }
}
