import Apus
import MoviesScreen
import MoviesService

/// A screen whose spinner, list and error a `Loader` keeps: what it shows when, also after a failure.
struct LoadFilms: Scene {
  let title = "Movies: a screen with a Loader"

  private static let call = "GET /3/movie/popular"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let key = MemoryCredentials(token: world.apiKey)
    let client = try Client(baseURL: world.staging.url("/3")) {
      $0.suit(.app)
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
    // Whoever runs the server has changed the key.
    key.set(token: "outdated")
    await films.load()
    shown.append(await text(model))
    stage.say("the screen shows: \(shown.joined(separator: " → "))")
    stage.reads(await model.errorText ?? "", behind: "and the films there were")
    return [
      Claim(name: "loader", server: world.staging, subject: Self.call, expected: "200 ×2, 401"),
      .app(
        "loader-shows", "what a screen shows, one after the other",
        expected: "nothing, spinner, 20, 20 and spinner, 20, 20 and error", shown: shown.joined(separator: ", ")),
    ]
  }

  @MainActor
  private func loader(of model: MoviesModel) -> Loader<[Movie]> { model.films }

  /// What the screen shows now.
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
