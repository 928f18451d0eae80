public import Apus

/// A trailer or another video of a movie.
public struct Video: Codable, Sendable, Hashable {
  /// The video's name.
  public let name: String
  /// The kind of video, for example `Trailer`.
  public let type: String
  /// The site that hosts the video, for example `YouTube`.
  public let site: String
  /// The video's id on that site.
  public let key: String
}

extension Endpoint where Self == Request<[Video]> {
  static func videos(of id: Movie.ID) -> Self { .get("/movie/\(id)/videos").at("results") }
}

extension LiveMoviesService {
  /// Fetches a movie's videos.
  public func videos(of id: Movie.ID) async throws(CallError) -> [Video] {
    try await client.send(.videos(of: id))
  }
}
