import Testing

@testable import Backend

@Suite struct RankingTests {
  @Test func `Films are ranked by similarity of genres, then votes, then id`() {
    let films = [
      film(1, votes: 10, [.action]), film(2, votes: 90, [.action, .comedy, .drama]),
      film(3, votes: 5, [.action, .comedy]), film(5, votes: 10, [.comedy]), film(4, votes: 10, [.comedy]),
    ]
    let ranked = FilmStore.ranked(films, by: GenreSet([.action, .comedy]))
    #expect(ranked.map(\.id) == [3, 2, 1, 4, 5])
  }

  @Test func `Similarity is the share of common genres`() {
    #expect(GenreSet([.action]).similarity(to: GenreSet([.action])) == 1)
    #expect(GenreSet([.action, .drama]).similarity(to: GenreSet([.action])) == 0.5)
    #expect(GenreSet([.action]).similarity(to: GenreSet([.drama])) == 0)
    #expect(GenreSet([]).similarity(to: GenreSet([])) == 0)
  }

  private func film(_ id: Int64, votes: Int, _ genres: [Genre]) -> Film {
    Film(id: id, title: "", year: 2000, minutes: 90, rating: 7, votes: votes, budget: nil, genres: GenreSet(genres))
  }
}
