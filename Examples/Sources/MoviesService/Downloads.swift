public import Apus
public import ApusTransfers

extension Endpoint where Self == Request<Content> {
  static func file(of id: Movie.ID) -> Self { Request(method: .get, path: "/films/\(id).mp4", mapping: .content) }
}

/// The files of movies, which a separate server stores.
public struct MovieDownloads: Sendable {
  private let client: Client

  /// Creates the service.
  ///
  /// - Parameter client: calls the server with the files, which requires no key.
  public init(client: Client) {
    self.client = client
  }

  /// Downloads a movie to a file, and continues an interrupted download.
  ///
  /// - Parameters:
  ///   - id: the movie.
  ///   - path: the path of the file, whose folder exists.
  public func download(_ id: Movie.ID, to path: String) async throws(CallError) -> DownloadedFile {
    try await client.download(.file(of: id), to: path)
  }
}
