public import Apus

/// A trailer, or the like.
public struct Video: Codable, Sendable, Hashable {
  /// What it is called.
  public let name: String
  /// Where it is, for example `YouTube`.
  public let site: String
  /// Its name there.
  public let key: String
}

extension Endpoint where Self == Request<[Video]> {
  static func videos(of id: Movie.ID) -> Self { .get("/movie/\(id)/videos").at("results") }
}

extension LiveMoviesService {
  /// Fetches a film's videos.
  public func videos(of id: Movie.ID) async throws(CallError) -> [Video] {
    try await client.send(.videos(of: id))
  }
}
