import Apus

/// Version 3 of TheMovieDB's API.
///
/// Style: an enum. The whole API is one type, whose calls can be cancelled together. The caller specifies the type to
/// decode.
enum MovieEndpoint: Endpoint {
  case popular(page: Int)
  case newMovies(page: Int)
  case search(String, page: Int)
  case recommendations(for: Movie.ID, page: Int)
  case details(Movie.ID)

  var request: Request<Content> {
    switch self {
    case .popular(let page): get("/movie/popular", ["page": page])
    case .newMovies(let page): get("/movie/now_playing", ["page": page])
    // The user is typing and waits for the result.
    case .search(let text, let page): get("/search/movie", ["query": text, "page": page]).priority(.high)
    // Displayed below the movie, so not visible at first.
    case .recommendations(let id, let page): get("/movie/\(id)/recommendations", ["page": page]).priority(.low)
    case .details(let id): get("/movie/\(id)", [:])
    }
  }

  private func get(_ path: RequestPath, _ query: Query) -> Request<Content> {
    Request(method: .get, path: path, query: query, mapping: .content).json(.snakeCase)
  }
}
