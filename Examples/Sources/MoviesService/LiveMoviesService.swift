public import Apus

/// The movies of a server with version 3 of TheMovieDB's API.
///
/// The client has the address, `https://api.themoviedb.org/3` for TheMovieDB, and the API key: `$0.authentication =
/// .apiKey(key, queryParameter: "api_key")`.
public struct LiveMoviesService: MoviesService {
  let client: Client
  let images: Client?

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - client: calls the API.
  ///   - images: calls the image server, which needs no key. Default: `nil`, which leaves every movie without a poster.
  public init(client: Client, images: Client? = nil) {
    self.client = client
    self.images = images
  }

  /// Fetches one page after another.
  public func popular() -> MoviePages {
    pages { .popular(page: $0) }
  }

  /// Fetches the page.
  public func newMovies(page: Int) async throws(CallError) -> MoviePage {
    try await client.send(MovieEndpoint.newMovies(page: page), as: MoviePage.self)
  }

  /// Fetches one page after another.
  public func recommendations(for id: Movie.ID) -> MoviePages {
    pages { .recommendations(for: id, page: $0) }
  }

  /// Fetches the first page; a newer call supersedes an older one.
  public func search(_ text: String) async throws(CallError) -> MoviePage {
    try await client.send(MovieEndpoint.search(text, page: 1).latestWins("search"), as: MoviePage.self)
  }

  /// Fetches the details.
  public func details(of id: Movie.ID) async throws(CallError) -> MovieDetails {
    try await client.send(MovieEndpoint.details(id), as: MovieDetails.self)
  }

  private func pages(_ endpoint: @escaping @Sendable (Int) -> MovieEndpoint) -> MoviePages {
    client.pages(of: { endpoint($0).decoded(as: MoviePage.self) }, next: .number { !$0.isLast })
  }
}

extension LiveMoviesService {
  /// Returns the service for TheMovieDB itself.
  ///
  /// - Parameter key: the API key of a TheMovieDB account.
  public static func theMovieDB(key: Secret) -> LiveMoviesService {
    let client = Client(baseURL: "https://api.themoviedb.org/3") {
      $0.authentication = .apiKey(key.value, queryParameter: "api_key")
    }
    return LiveMoviesService(client: client, images: Client(baseURL: "https://image.tmdb.org/t/p"))
  }
}
