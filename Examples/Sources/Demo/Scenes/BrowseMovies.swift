import Apus
import MoviesService

/// Films by pages, then one of them and what goes with it, both at once.
struct BrowseMovies: Scene {
  let title = "Movies: pages as an AsyncSequence, then two calls at once"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    var movies: [Movie] = []
    for try await page in world.movies.popular() {
      movies += page.results
      stage.progress("page \(page.page) of \(page.totalPages)")
      if page.page == 3 { break }
    }
    stage.settle("3 pages and no more: \(movies.count) films")
    guard let best = movies.first else { throw NothingFound() }
    async let details = world.movies.details(of: best.id)
    async let recommended = firstPage(world.movies.recommendations(for: best.id))
    let (film, others) = try await (details, recommended)
    stage.say("\(film.title)\(film.runtime.map { ", \($0) minutes" } ?? ""); people also like:")
    for movie in others.prefix(3) { stage.say("    \(movie.title)\(movie.year.map { " (\($0))" } ?? "")") }
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

/// A list that ought to hold something.
struct NothingFound: Error, CustomStringConvertible {
  let description = "there are no films"
}
