public import Apus

/// The films of a server that speaks version 3 of TheMovieDB's API.
///
/// The client brings the address, `https://api.themoviedb.org/3` for that server, and the key:
/// `$0.authentication = .apiKey(key, queryParameter: "api_key")`.
public struct LiveMoviesService: MoviesService {
  let client: Client
  let images: Client?

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - client: talks to the API.
  ///   - images: talks to the server of the images, which needs no key. Default: none, and no film has a poster then.
  public init(client: Client, images: Client? = nil) {
    self.client = client
    self.images = images
  }

  /// Fetches page after page.
  public func popular() -> MoviePages {
    pages { .popular(page: $0) }
  }

  /// Fetches page after page.
  public func nowPlaying() -> MoviePages {
    pages { .nowPlaying(page: $0) }
  }

  /// Fetches page after page.
  public func recommendations(for id: Movie.ID) -> MoviePages {
    pages { .recommendations(for: id, page: $0) }
  }

  /// Fetches the first page; a newer call supersedes an older one.
  public func search(_ text: String) async throws(CallError) -> MoviePage {
    try await client.send(MovieEndpoint.search(text, page: 1).latestWins("search"), as: MoviePage.self)
  }

  /// Fetches a film.
  public func details(of id: Movie.ID) async throws(CallError) -> MovieDetails {
    try await client.send(MovieEndpoint.details(id), as: MovieDetails.self)
  }

  private func pages(_ endpoint: @escaping @Sendable (Int) -> MovieEndpoint) -> MoviePages {
    client.pages(as: MoviePage.self, until: \.isLast, of: endpoint)
  }
}
