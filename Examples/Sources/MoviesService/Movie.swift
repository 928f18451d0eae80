/// A film in a list.
public struct Movie: Codable, Sendable, Hashable, Identifiable {
  /// The film's number.
  public let id: Int
  /// The title.
  public let title: String
  /// What it is about, if anybody has said.
  public let overview: String?
  /// The day it came out, `1994-09-23`; some films have none, or an empty text.
  public let releaseDate: String?
  /// What people thought of it, from 0 to 10.
  public let voteAverage: Double?
  /// The file of its poster, if it has one.
  public var posterPath: String?

  /// Makes a film, for previews and tests.
  public init(id: Int, title: String, overview: String? = nil, releaseDate: String? = nil, voteAverage: Double? = nil) {
    self.id = id
    self.title = title
    self.overview = overview
    self.releaseDate = releaseDate
    self.voteAverage = voteAverage
  }

  /// The year it came out, if it is known.
  public var year: Int? { releaseDate.flatMap { Int($0.prefix(4)) } }
}
