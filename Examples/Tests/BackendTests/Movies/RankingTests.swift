import Testing

@testable import Backend

@Suite struct RankingTests {
  @Test func `the closest genres come first, then the most votes, then the lowest id`() {
    let films = [
      film(1, votes: 10, [.action]), film(2, votes: 90, [.action, .comedy, .drama]),
      film(3, votes: 5, [.action, .comedy]), film(5, votes: 10, [.comedy]), film(4, votes: 10, [.comedy]),
    ]
    let ranked = FilmStore.ranked(films, by: GenreSet([.action, .comedy]))
    #expect(ranked.map(\.id) == [3, 2, 1, 4, 5])
  }

  @Test func `likeness is what is shared over what either has`() {
    #expect(GenreSet([.action]).likeness(to: GenreSet([.action])) == 1)
    #expect(GenreSet([.action, .drama]).likeness(to: GenreSet([.action])) == 0.5)
    #expect(GenreSet([.action]).likeness(to: GenreSet([.drama])) == 0)
    #expect(GenreSet([]).likeness(to: GenreSet([])) == 0)
  }

  private func film(_ id: Int64, votes: Int, _ genres: [Genre]) -> Film {
    Film(id: id, title: "", year: 2000, minutes: 90, rating: 7, votes: votes, budget: nil, genres: GenreSet(genres))
  }
}
