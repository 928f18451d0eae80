import Apus

/// Version 3 of TheMovieDB's API.
///
/// Style: an enum. The whole API in one type, whose calls can be cancelled together; what an answer is decoded as is
/// named at the call.
enum MovieEndpoint: Endpoint {
  case popular(page: Int)
  case nowPlaying(page: Int)
  case search(String, page: Int)
  case recommendations(for: Movie.ID, page: Int)
  case details(Movie.ID)

  var request: Request<Content> {
    switch self {
    case .popular(let page): get("/movie/popular", ["page": page])
    case .nowPlaying(let page): get("/movie/now_playing", ["page": page])
    // Somebody types and looks at nothing else.
    case .search(let text, let page): get("/search/movie", ["query": text, "page": page]).priority(.high)
    // Below the film itself, where one has to scroll to.
    case .recommendations(let id, let page): get("/movie/\(id)/recommendations", ["page": page]).priority(.low)
    case .details(let id): get("/movie/\(id)", [:])
    }
  }

  private func get(_ path: RequestPath, _ query: Query) -> Request<Content> {
    Request(method: .get, path: path, query: query, mapping: .content).json(.snakeCase)
  }
}
