import Apus
import Backend
import Foundation
import MoviesScreen
import MoviesService

/// The new movies as a list with pages.
struct NewMoviesScene: Scene {
  let title = "newMovies(page:): a list with its pages"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    var (count, pages, total) = (0, 0, 0)
    var isLast = false
    while !isLast {
      let page = try await world.movies.newMovies(page: pages + 1)
      stage.say("page \(page.page) of \(page.totalPages)")
      for movie in page.results.prefix(3) { stage.say("  \(Self.row(movie))") }
      if page.results.count > 3 { stage.say("  … and \(page.results.count - 3) more") }
      (count, pages, total) = (count + page.results.count, pages + 1, page.totalResults)
      isLast = page.isLast
    }
    return [
      Claim(
        name: "new-movies", server: world.staging, subject: "GET /3/movie/now_playing",
        expected: "200 ×\(max(2, pages))"),
      .app("new-movies-list", "movies on all pages", expected: "\(total)", shown: "\(count)"),
    ]
  }

  private static func row(_ movie: Movie) -> String {
    let rating = movie.voteAverage.map { "★ \($0)" } ?? ""
    return "\(movie.title.padded(to: 48))  \(movie.year.map(String.init) ?? "")  \(rating)"
  }
}

/// Popular movies as an `AsyncSequence`, then the details of one and its recommendations, concurrently.
struct MovieDetailsScene: Scene {
  let title = "Popular movies as an AsyncSequence, then two concurrent calls"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    var movies: [Movie] = []
    for try await page in world.movies.popular() {
      movies += page.results
      stage.progress("page \(page.page) of \(page.totalPages)")
      if page.page == 3 { break }
    }
    stage.finishProgress("3 pages, then the loop ends: \(movies.count) movies, 3 requests")
    guard let best = movies.first else { throw NothingFound() }
    async let details = world.movies.details(of: best.id)
    async let recommended = firstPage(world.movies.recommendations(for: best.id))
    let (film, others) = try await (details, recommended)
    stage.say("\(film.title)\(film.runtime.map { ", \($0) minutes" } ?? ""); recommended:")
    for movie in others.prefix(3) { stage.say("  \(movie.title)\(movie.year.map { " (\($0))" } ?? "")") }
    return [
      Claim(name: "movies", server: world.staging, subject: "GET /3/movie/popular", expected: "200 ×3"),
      Claim(name: "movie", server: world.staging, subject: "GET /3/movie/\(best.id)", expected: "200"),
      Claim(
        name: "recommendations", server: world.staging, subject: "GET /3/movie/\(best.id)/recommendations",
        expected: "200"),
    ]
  }

  private func firstPage(_ pages: MoviePages) async throws(CallError) -> [Movie] {
    for try await page in pages { return page.results }
    return []
  }
}

/// The videos of a movie.
struct VideosScene: Scene {
  let title = "videos(of:): the trailers of a movie"

  func play(in world: World) async throws -> [Claim] {
    guard let best = try await world.movies.mostPopular().first else { throw NothingFound() }
    let videos = try await world.movies.videos(of: best.id)
    for video in videos {
      world.stage.say("\(video.type.padded(to: 12))  \(video.name)")
      world.stage.note("on \(video.site), key \(video.key)")
    }
    return [
      Claim(name: "videos", server: world.staging, subject: "GET /3/movie/\(best.id)/videos", expected: "200"),
      .app(
        "video-rows", "kinds of videos shown", expected: "Trailer, Teaser, Featurette",
        shown: videos.map(\.type).joined(separator: ", ")),
    ]
  }
}

/// On a slow network fifty posters give way to a list, then to a later search, and a concurrency limit applies to all
/// calls.
struct PostersScene: Scene {
  let title = "Fifty posters yield to more urgent calls"

  private static let count = 50
  /// The maximum number of concurrent calls to one server.
  private static let limit = 10
  private static let list = "/3/movie/now_playing"
  private static let search = "/3/search/movie"

  func play(in world: World) async throws -> [Claim] {
    let list = LiveList()
    let board = LiveBoard(list, on: world.stage)
    let scheduler = Scheduler(ConcurrencyLimits(perOrigin: Self.limit))
    let movies = try service(on: world, scheduler, list)
    var films: [Movie] = []
    for try await page in movies.popular() {
      films += page.results
      if films.count >= Self.count { break }
    }
    let drawing = Task { await board.follow() }
    defer { drawing.cancel() }
    scheduler.pause("images")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for film in films.prefix(Self.count) { group.addTask { _ = try await movies.poster(of: film) } }
      try await wait(until: "all posters are queued") { scheduler.queuedCount >= Self.count }
      board.say("\(scheduler.queuedCount) posters are held by their tag …")
      board.say("… while \(try await movies.newMovies(page: 1).results.count) new movies are listed.")
      scheduler.pauseAll()
      scheduler.resume("images")
      group.addTask { _ = try await movies.search("god") }
      try await wait(until: "the search is queued") { scheduler.queuedCount >= Self.count + 1 }
      board.say("All calls are held; a search arrives last, behind \(Self.count) posters, and runs first.")
      scheduler.resumeAll()
      try await group.waitForAll()
    }
    drawing.cancel()
    await drawing.value
    board.close()
    return [
      Claim(name: "posters", server: world.staging, subject: "GET /t/p/w185/*", expected: "200 ×\(Self.count)"),
      Claim(
        name: "posters-yield", server: world.staging, subject: "*",
        expected: "none before the list, less than half before the search", summary: Self.order),
      Claim(
        name: "posters-limit", server: world.staging, subject: "*", expected: "at most \(Self.limit) concurrent",
        summary: Claim.concurrency(upTo: Self.limit)),
    ]
  }

  /// Returns a service for movies and posters, whose two clients share a scheduler.
  private func service(on world: World, _ scheduler: Scheduler, _ list: LiveList) throws -> LiveMoviesService {
    let films = try Client(baseURL: world.staging.url("/3")) {
      $0.apply(.app)
      $0.scheduler = scheduler
      $0.observers.append(list)
      $0.authentication = .apiKey(world.staging.apiKey, queryParameter: "api_key")
    }
    let images = try Client(baseURL: world.staging.url("/t/p")) {
      $0.apply(.app)
      $0.scheduler = scheduler
      $0.observers.append(list)
    }
    return LiveMoviesService(client: films, images: images)
  }

  /// Counts the posters that arrived before the list and before the search. Posters that were admitted together with
  /// the search may overtake it on their connections.
  @Sendable
  private static func order(_ rows: [LoggedExchange]) -> String {
    let paths = rows.map(\.path)
    let beforeList = posters(in: paths.prefix { $0 != list })
    let beforeSearch = posters(in: paths.prefix { $0 != search })
    let some = beforeSearch < count / 2 ? "less than half" : "\(beforeSearch)"
    return "\(beforeList == 0 ? "none" : "\(beforeList)") before the list, \(some) before the search"
  }

  private static func posters(in paths: ArraySlice<String>) -> Int {
    paths.count { $0.hasPrefix("/t/p/") }
  }
}

/// A screen with a `Loader`, which stores the loading state, the list and the error.
struct LoaderScene: Scene {
  let title = "A screen with a Loader: first load, reload, failure"

  private static let call = "GET /3/movie/popular"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let key = MemoryCredentialsStore(token: world.staging.apiKey)
    let client = try Client(baseURL: world.staging.url("/3")) {
      $0.apply(.app)
      $0.authentication = .apiKey(key, queryParameter: "api_key")
    }
    let model = await MoviesModel(service: LiveMoviesService(client: client))
    let films = await loader(of: model)
    let position = try await log.position()
    var shown = [await text(model)]
    for number in 1...2 {
      async let load: Void = films.load()
      try await log.waitForArrivals(number, of: Self.call, since: position)
      shown.append(await text(model))
      await load
      shown.append(await text(model))
    }
    // Changes the key, as if the server's operator had replaced it.
    key.set(token: "outdated")
    await films.load()
    shown.append(await text(model))
    stage.say("The screen shows: \(shown.joined(separator: " → "))")
    stage.reads(await model.errorText ?? "", cause: "the movies stay on screen")
    return [
      Claim(name: "loader", server: world.staging, subject: Self.call, expected: "200 ×2, 401"),
      .app(
        "loader-shows", "what the screen shows in turn",
        expected: "nothing, spinner, 20, 20 and spinner, 20, 20 and error", shown: shown.joined(separator: ", ")),
    ]
  }

  @MainActor
  private func loader(of model: MoviesModel) -> Loader<[Movie]> { model.films }

  @MainActor
  private func text(_ model: MoviesModel) -> String {
    switch model.films.phase {
    case .idle: "nothing"
    case .loading: "spinner"
    case .loaded(let films): "\(films.count)"
    case .refreshing(let films): "\(films.count) and spinner"
    case .failed(_, let last): "\(last?.count ?? 0) and error"
    }
  }
}

/// Search while typing: each letter starts a search, and only the result of the last search is displayed.
struct SearchScene: Scene {
  let title = "Search as you type: the last search wins"

  private static let call = "GET /3/search/movie"

  func play(in world: World) async throws -> [Claim] {
    let (log, movies) = (world.staging.log, world.movies)
    let position = try await log.position()
    let lines = try await withThrowingTaskGroup { group in
      for (index, text) in ["g", "go", "god"].enumerated() {
        // The next letter is typed while the previous search is in flight.
        try await log.waitForArrivals(index, of: Self.call, since: position)
        group.addTask { try await Self.search(text, in: movies) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for line in lines { world.stage.say(line) }
    return [Claim(name: "search", server: world.staging, subject: Self.call, expected: "left ×2, 200")]
  }

  private static func search(_ text: String, in movies: any MoviesService) async throws(CallError) -> String {
    do throws(CallError) {
      let page = try await movies.search(text)
      return "“\(text)”: \(page.totalResults) movies, first \(page.results.first?.title ?? "none")"
    } catch {
      guard error.cancellation == .superseded else { throw error }
      return "“\(text)”: superseded"
    }
  }
}

/// One configuration file with three environments; changing its first line changes the server and the key.
struct EnvironmentsScene: Scene {
  let title = "qa, staging, production: the environment is a line of the configuration file"

  func play(in world: World) async throws -> [Claim] {
    let (stage, servers) = (world.stage, [world.qa, world.staging, world.production])
    let file = try Self.file(servers)
    var configuration = try JSONDecoder().decode(MoviesConfiguration.self, from: file)
    for server in servers {
      configuration.environment = server.name
      let movies = try LiveMoviesService(configuration)
      let page = try await movies.newMovies(page: 1)
      stage.say(
        "\"environment\": \"\(server.name)\"".padded(to: 28) + "  \(page.totalResults) movies from \(server.address)")
    }
    return servers.flatMap { server in
      let subject = "GET /3/movie/now_playing"
      return [
        Claim(name: "movies-\(server.name)", server: server, subject: subject, expected: "200"),
        Claim(
          name: "key-\(server.name)", server: server, subject: subject, expected: server.keyFingerprint,
          summary: Claim.credentials),
      ]
    }
  }

  /// Returns the configuration file of the movies app.
  private static func file(_ servers: [Server]) throws -> Data {
    let sites = servers.map { server in
      #""\#(server.name)": {"api": "\#(server.address)/3", "images": "\#(server.address)/t/p", "key": "\#(server.apiKey)"}"#
    }
    return Data(#"{"environment": "qa", "environments": {\#(sites.joined(separator: ", "))}}"#.utf8)
  }
}
