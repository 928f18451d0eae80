public import Apus

/// An image, unchanged from the server.
public struct Poster: Sendable, Hashable {
  /// The media type, for example `image/jpeg`.
  public let type: String
  /// The bytes of the image.
  public let bytes: [UInt8]

  /// Creates an image, for previews and tests.
  public init(type: String, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }
}

extension Endpoint where Self == Request<Poster> {
  /// Returns a request with a low priority, at most two attempts, and a tag by which all image requests can be paused
  /// or cancelled.
  static func poster(_ file: String) -> Self {
    Request<Poster>(method: .get, path: "/w185/\(file)", mapping: .poster)
      .tag("images").priority(.low).retry(RetryPolicy(maximumAttempts: 2))
  }
}

extension ResponseMapping where Value == Poster {
  /// An image of any format; the content is not decoded.
  static var poster: Self {
    ResponseMapping(accept: "image/*") { content in
      Poster(type: content.mediaType?.essence ?? "application/octet-stream", bytes: [UInt8](content.data))
    }
  }
}

extension LiveMoviesService {
  /// Fetches a movie's poster, 185 points wide.
  public func poster(of movie: Movie) async throws(CallError) -> Poster? {
    guard let images, let path = movie.posterPath else { return nil }
    return try await images.send(.poster(String(path.dropFirst())))
  }
}
