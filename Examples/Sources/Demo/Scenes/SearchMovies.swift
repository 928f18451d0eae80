import Apus
import MoviesService

/// Somebody types; each letter searches, and only the last search counts.
struct SearchMovies: Scene {
  let title = "Movies: searching while somebody types"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    let log = world.staging.log
    let position = try await log.position()
    let movies = world.movies
    let results = try await withThrowingTaskGroup { group in
      for (index, text) in ["g", "go", "god"].enumerated() {
        group.addTask { () async throws(CallError) -> (text: String, found: MoviePage?) in
          do throws(CallError) {
            return (text, try await movies.search(text))
          } catch {
            guard error.cancellation == .superseded else { throw error }
            return (text, nil)
          }
        }
        if index < 2 {
          try await log.waitForArrivals(index + 1, of: "GET /3/search/movie", since: position)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (text, found) in results {
      let films = found.map { "\($0.totalResults) films, first \($0.results.first?.title ?? "none")" }
      stage.say("“\(text)”: \(films ?? "superseded")")
    }
    return [
      Claim(name: "search", server: world.staging, subject: "GET /3/search/movie", expected: "left ×2, 200")
    ]
  }
}
