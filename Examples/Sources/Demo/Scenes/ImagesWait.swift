import Apus
import Backend
import MoviesService

/// On a weak network fifty posters wait for a list, then for a search that came after them, and never do more calls run
/// than may.
struct ImagesWait: Scene {
  let title = "Movies: fifty posters wait for what is more urgent"

  private static let count = 50
  /// How many calls run at a time to one server.
  private static let limit = 10
  private static let list = "/3/movie/now_playing"
  private static let search = "/3/search/movie"

  func play(in world: World) async throws -> [Claim] {
    let list = LiveList()
    let board = LiveBoard(list, on: world.stage)
    let scheduler = Scheduler(SchedulingLimits(perOrigin: Self.limit))
    let movies = try service(on: world, scheduler, list)
    var films: [Movie] = []
    for try await page in movies.popular() {
      films += page.results
      if films.count >= Self.count { break }
    }
    let drawing = Task { await board.follow() }
    defer { drawing.cancel() }
    scheduler.hold("images")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for film in films.prefix(Self.count) { group.addTask { _ = try await movies.poster(of: film) } }
      try await scheduler.waitForWaiting(Self.count)
      board.say("\(scheduler.waiting) posters are held …")
      board.say("… while \(try await newFilms(movies)) new films are listed")
      scheduler.holdEverything()
      scheduler.release("images")
      group.addTask { _ = try await movies.search("god") }
      try await scheduler.waitForWaiting(Self.count + 1)
      board.say("offline for a moment; a search comes last, behind \(Self.count) posters, and goes first")
      scheduler.releaseEverything()
      try await group.waitForAll()
    }
    drawing.cancel()
    await drawing.value
    board.close()
    return [
      Claim(name: "posters", server: world.staging, subject: "GET /t/p/w185/*", expected: "200 ×\(Self.count)"),
      Claim(
        name: "posters-wait", server: world.staging, subject: "*",
        expected: "none before the list, less than half before the search", summary: Self.order),
      Claim(
        name: "posters-limit", server: world.staging, subject: "*", expected: "\(Self.limit) at once or fewer",
        summary: Claim.atOnce(upTo: Self.limit)),
    ]
  }

  /// The films of a client and the posters of another, which share their places.
  private func service(on world: World, _ scheduler: Scheduler, _ list: LiveList) throws -> LiveMoviesService {
    let key = MemoryCredentials(token: world.apiKey)
    let films = try Client(baseURL: world.staging.url("/3")) {
      $0.suit(.app)
      $0.scheduler = scheduler
      $0.settings.observers.append(list)
      $0.authentication = .apiKey(key, queryParameter: "api_key")
    }
    let images = try Client(baseURL: world.staging.url("/t/p")) {
      $0.suit(.app)
      $0.scheduler = scheduler
      $0.settings.observers.append(list)
    }
    return LiveMoviesService(client: films, images: images)
  }

  private func newFilms(_ movies: LiveMoviesService) async throws(CallError) -> Int {
    for try await page in movies.nowPlaying() { return page.results.count }
    return 0
  }

  /// How many posters arrived before the list, and before the search: some have their turn at the same moment as it,
  /// and may overtake it on their connections.
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
