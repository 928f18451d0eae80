public import Apus

extension MoviesService {
  /// The first page of the films that most people like, for a list that is shown.
  public func mostPopular() async throws(CallError) -> [Movie] {
    for try await page in popular() { return page.results }
    return []
  }
}
