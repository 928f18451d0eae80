import Apus
import MoviesService

/// Somebody types; each letter searches, and only the last search counts.
struct SearchMovies: Scene {
  let title = "Movies: searching while somebody types"

  func play(in world: World) async throws -> [Claim] {
    let (log, movies) = (world.staging.log, world.movies)
    let position = try await log.position()
    let lines = try await withThrowingTaskGroup { group in
      for (index, text) in ["g", "go", "god"].enumerated() {
        // The next letter comes while the search before is in flight.
        try await log.waitForArrivals(index, of: Self.call, since: position)
        group.addTask { try await Self.search(text, in: movies) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for line in lines { world.stage.say(line) }
    return [Claim(name: "search", server: world.staging, subject: Self.call, expected: "left ×2, 200")]
  }

  private static let call = "GET /3/search/movie"

  /// Searches, and says what came of it.
  private static func search(_ text: String, in movies: any MoviesService) async throws(CallError) -> String {
    do throws(CallError) {
      let page = try await movies.search(text)
      return "“\(text)”: \(page.totalResults) films, first \(page.results.first?.title ?? "none")"
    } catch {
      guard error.cancellation == .superseded else { throw error }
      return "“\(text)”: superseded"
    }
  }
}
