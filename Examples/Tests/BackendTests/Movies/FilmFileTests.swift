import Testing

@testable import Backend

@Suite struct FilmFileTests {
  @Test func `The bundled films are read`() throws {
    let films = try FilmFile.load()
    #expect(films.count == 1500)
    #expect(Set(films.map(\.id)).count == 1500)
    #expect(films.allSatisfy { (1890...2005).contains($0.year) && (1...10).contains($0.rating) && $0.minutes > 0 })
    let matrix = try #require(films.first { $0.title == "The Matrix" })
    #expect(matrix.year == 1999)
    #expect(matrix.minutes == 136)
    #expect(matrix.genres.genres == [.action])
  }

  @Test func `The budget and the genres may be empty`() throws {
    let film = try #require(try FilmFile.films(in: "header\n1\tT\t1999\t90\t7.5\t100\t\t\n").first)
    #expect(film.budget == nil)
    #expect(film.genres.genres.isEmpty)
  }

  @Test(arguments: [
    "1\tT\t1999", "x\tT\t1999\t90\t7\t9\t\t", "1\tT\t1999\t90\t7\t9\t\tWestern", "1\tT\t1999\t90\t7\t9\tx\t",
  ])
  func `The error contains the invalid line`(line: String) {
    #expect(throws: FilmFile.BrokenLine(line: 2)) { try FilmFile.films(in: "header\n\(line)\n") }
  }
}
