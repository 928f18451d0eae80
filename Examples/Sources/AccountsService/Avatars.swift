public import Apus

/// A user's picture.
public struct Avatar: Codable, Sendable, Hashable {
  /// The complete address of the image, possibly on another server.
  public let url: String

  /// Creates an avatar, for previews and tests.
  public init(url: String) {
    self.url = url
  }
}

struct UploadAvatar: Endpoint {
  let path: String

  var request: Request<Avatar> { .post("/avatars", content: .multipart([.file("image", at: path)])) }
}

extension LiveAccountsService {
  /// Sends the file as a form.
  public func uploadAvatar(from path: String, progress: ProgressReporter) async throws(CallError) -> Avatar {
    try await client.send(UploadAvatar(path: path).uploadProgress(progress))
  }
}
