/// A film on its own.
public struct MovieDetails: Codable, Sendable, Hashable, Identifiable {
  /// A kind of film.
  public struct Genre: Codable, Sendable, Hashable, Identifiable {
    /// The genre's number.
    public let id: Int
    /// Its name.
    public let name: String
  }

  /// The film's number.
  public let id: Int
  /// The title.
  public let title: String
  /// How long it is in minutes, if that is known.
  public let runtime: Int?
  /// What kind of film it is.
  public let genres: [Genre]
}
