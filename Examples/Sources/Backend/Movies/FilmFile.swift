import Foundation

/// Reads the films that come with the server.
enum FilmFile {
  /// A line that is not as `Resources/README.md` says.
  struct BrokenLine: Error, Equatable {
    let line: Int
  }

  /// The file is not where the build puts it.
  struct Missing: Error {}

  static func load() throws -> [Film] {
    guard let url = Bundle.module.url(forResource: "films", withExtension: "tsv") else { throw Missing() }
    return try films(in: String(contentsOf: url, encoding: .utf8))
  }

  /// The films of a text; its first line names the columns.
  static func films(in text: String) throws(BrokenLine) -> [Film] {
    var films: [Film] = []
    for (number, line) in text.split(separator: "\n").enumerated().dropFirst() {
      guard let film = film(in: line) else { throw BrokenLine(line: number + 1) }
      films.append(film)
    }
    return films
  }

  private static func film(in line: Substring) -> Film? {
    let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard columns.count == 8, let id = Int64(columns[0]), let year = Int(columns[2]), let minutes = Int(columns[3]),
      let rating = Double(columns[4]), let votes = Int(columns[5])
    else { return nil }
    let names = columns[7].split(separator: ",")
    let genres = names.compactMap(Genre.init(name:))
    guard genres.count == names.count, columns[6].isEmpty || Int(columns[6]) != nil else { return nil }
    return Film(
      id: id, title: String(columns[1]), year: year, minutes: minutes, rating: rating, votes: votes,
      budget: Int(columns[6]), genres: GenreSet(genres))
  }
}
