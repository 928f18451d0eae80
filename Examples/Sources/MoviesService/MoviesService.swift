public import Apus

/// Pages of films, each fetched when the loop asks for it.
public typealias MoviePages = any AsyncSequence<MoviePage, CallError> & Sendable

/// Films, as the app sees them.
///
/// ``LiveMoviesService`` asks a server; a preview or a test writes its own.
public protocol MoviesService: Sendable {
  /// The films that most people like.
  func popular() -> MoviePages

  /// The newest films.
  func nowPlaying() -> MoviePages

  /// The films that go with a film.
  func recommendations(for id: Movie.ID) -> MoviePages

  /// The first films whose titles hold a text, for a search that goes on while somebody types: a newer call supersedes
  /// one that is still under way, which then throws as cancelled.
  func search(_ text: String) async throws(CallError) -> MoviePage

  /// A film on its own.
  func details(of id: Movie.ID) async throws(CallError) -> MovieDetails

  /// A film's poster, if it has one. Posters may wait while something more urgent is fetched.
  func poster(of movie: Movie) async throws(CallError) -> Poster?

  /// A film's trailers and the like.
  func videos(of id: Movie.ID) async throws(CallError) -> [Video]
}
