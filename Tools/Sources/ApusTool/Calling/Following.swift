import Apus

/// Whether redirects are followed.
enum Following {
  /// The request that follows redirects, or does not.
  static func set(_ follows: Bool, on request: Request<Content>) -> Request<Content> {
    request
  }
}
