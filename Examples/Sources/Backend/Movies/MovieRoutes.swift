import HTTPTypes

/// Films, in the format of version 3 of TheMovieDB's API; every route needs the parameter `api_key`.
///
/// - `GET /3/movie/popular?page=`, `GET /3/movie/{id}/recommendations?page=`, `GET /3/search/movie?query=&page=`:
///   `{page, results: [film], total_pages, total_results}`
/// - `GET /3/movie/now_playing?page=`: the same with `dates: {minimum, maximum}`
/// - `GET /3/movie/{id}`: a film with its runtime and genres
/// - `GET /3/movie/{id}/videos`: `{id, results: [{id, name, type, site, key, size, official}]}`
struct MovieRoutes {
  private static let base = "/3"
  /// TheMovieDB's page size.
  private static let pageSize = 20

  let films: FilmStore
  let apiKey: String

  private struct Listing: Encodable {
    struct Dates: Encodable {
      let maximum: String
      let minimum: String
    }

    var dates: Dates?
    let page: Int
    let results: [MovieSummary]
    let totalPages: Int
    let totalResults: Int

    init(_ page: Page<Film>, dates: Dates? = nil) {
      self.dates = dates
      self.page = page.number
      results = page.items.map(MovieSummary.init)
      totalPages = page.count
      totalResults = page.total
    }
  }

  private struct Videos: Encodable {
    struct Item: Encodable {
      let id: String
      let name: String
      let type: String
      let key: String
      let site = "Demo"
      let size = 1080
      let official = true
    }

    let id: Int64
    let results: [Item]

    init(_ videos: [Video], of film: Film) {
      id = film.id
      results = videos.map { Item(id: $0.key, name: $0.name, type: $0.type, key: $0.key) }
    }
  }

  /// Whether errors of this path have TheMovieDB's format.
  static func owns(path: String) -> Bool { path == base || path.hasPrefix("\(base)/") }

  func add(to routes: inout Routes) {
    add("/movie/popular", to: &routes) { query, _ in
      .json(Listing(try await films.page(try Self.page(query), of: .popular)))
    }
    add("/movie/now_playing", to: &routes, nowPlaying)
    add("/search/movie", to: &routes, search)
    add("/movie/{id}", to: &routes) { _, context in
      .json(MovieDetails(film: try await film(context)))
    }
    add("/movie/{id}/recommendations", to: &routes) { query, context in
      let page = try Self.page(query)
      return .json(Listing(try await films.recommendations(for: try await film(context), page)))
    }
    add("/movie/{id}/videos", to: &routes) { _, context in
      let film = try await film(context)
      return .json(Videos(try await films.videos(of: film), of: film))
    }
  }

  /// Adds a route that requires the key.
  private func add(
    _ path: String, to routes: inout Routes,
    _ handle: @escaping @Sendable (Query, BackendContext) async throws -> Response
  ) {
    routes.on(.get, Self.base + path) { request, context in
      let query = try Query(request.query)
      guard query["api_key"] == apiKey else { throw MovieProblem.invalidKey }
      return try await handle(query, context)
    }
  }

  @Sendable
  private func nowPlaying(_ query: Query, _: BackendContext) async throws -> Response {
    let page = try await films.page(try Self.page(query), of: .nowPlaying)
    let years = try await films.newestYears()
    let dates = Listing.Dates(maximum: "\(years.upperBound)-12-31", minimum: "\(years.lowerBound)-01-01")
    return .json(Listing(page, dates: dates))
  }

  @Sendable
  private func search(_ query: Query, _: BackendContext) async throws -> Response {
    let page = try Self.page(query)
    guard let text = query["query"], !text.isEmpty, text.count <= 200 else { throw MovieProblem.invalidParameters }
    return .json(Listing(try await films.page(page, of: .search(text))))
  }

  private func film(_ context: BackendContext) async throws -> Film {
    guard let id = context.id(), let film = try await films.film(id) else { throw MovieProblem.notFound }
    return film
  }

  private static func page(_ query: Query) throws(MovieProblem) -> PageRequest {
    guard let text = query["page"] else { return PageRequest(number: 1, size: pageSize) }
    guard let number = Int(text), (1...500).contains(number) else { throw .invalidPage }
    return PageRequest(number: number, size: pageSize)
  }
}
