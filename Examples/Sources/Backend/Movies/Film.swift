import Foundation

/// A film of the data set.
struct Film: Sendable, Equatable {
  let id: Int64
  let title: String
  let year: Int
  let minutes: Int
  let rating: Double
  let votes: Int
  /// The budget in US dollars; `nil` when unknown.
  let budget: Int?
  let genres: GenreSet
}

extension Film: RowConvertible {
  init(row: Row) throws {
    id = try row.get("id")
    title = try row.get("title")
    year = try row.get("year")
    minutes = try row.get("minutes")
    rating = try row.get("rating")
    votes = try row.get("votes")
    budget = try row.get("budget")
    genres = GenreSet(rawValue: try row.get("genres"))
  }
}

/// The genres of the data set, with TheMovieDB's ids and names.
enum Genre: Int, CaseIterable, Sendable {
  case action = 28
  case animation = 16
  case comedy = 35
  case drama = 18
  case documentary = 99
  case romance = 10749

  var name: String {
    switch self {
    case .action: "Action"
    case .animation: "Animation"
    case .comedy: "Comedy"
    case .drama: "Drama"
    case .documentary: "Documentary"
    case .romance: "Romance"
    }
  }

  init?(name: some StringProtocol) {
    guard let genre = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = genre
  }
}

/// A set of genres, stored as the bits of one number.
struct GenreSet: OptionSet, Hashable, Sendable {
  let rawValue: Int

  init(rawValue: Int) {
    self.rawValue = rawValue
  }

  init(_ genres: some Sequence<Genre>) {
    rawValue = genres.reduce(0) { $0 | Self.bit(of: $1) }
  }

  var genres: [Genre] { Genre.allCases.filter { rawValue & Self.bit(of: $0) != 0 } }

  /// Returns the Jaccard similarity of two sets, from 0 to 1.
  func similarity(to other: GenreSet) -> Double {
    let all = union(other).rawValue.nonzeroBitCount
    return all == 0 ? 0 : Double(intersection(other).rawValue.nonzeroBitCount) / Double(all)
  }

  private static func bit(of genre: Genre) -> Int {
    1 << (Genre.allCases.firstIndex(of: genre) ?? 0)
  }
}

/// A reader of the bundled film file.
enum FilmFile {
  /// A line that does not have the format in `Resources/README.md`.
  struct BrokenLine: Error, Equatable {
    let line: Int
  }

  /// The file is missing from the bundle.
  struct Missing: Error {}

  static func load() throws -> [Film] {
    guard let url = Bundle.module.url(forResource: "films", withExtension: "tsv") else { throw Missing() }
    return try films(in: String(contentsOf: url, encoding: .utf8))
  }

  /// Parses the films in a text, whose first line names the columns.
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
