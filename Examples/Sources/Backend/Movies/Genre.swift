/// The genres of the data set, under the ids and names that TheMovieDB gives them.
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

/// A film's genres, as the bits of one number.
struct GenreSet: OptionSet, Hashable, Sendable {
  let rawValue: Int

  init(rawValue: Int) {
    self.rawValue = rawValue
  }

  init(_ genres: some Sequence<Genre>) {
    rawValue = genres.reduce(0) { $0 | Self.bit(of: $1) }
  }

  var genres: [Genre] { Genre.allCases.filter { rawValue & Self.bit(of: $0) != 0 } }

  /// How alike two sets are, from 0 to 1: what they share over what either has.
  func likeness(to other: GenreSet) -> Double {
    let all = union(other).rawValue.nonzeroBitCount
    return all == 0 ? 0 : Double(intersection(other).rawValue.nonzeroBitCount) / Double(all)
  }

  private static func bit(of genre: Genre) -> Int {
    1 << (Genre.allCases.firstIndex(of: genre) ?? 0)
  }
}
