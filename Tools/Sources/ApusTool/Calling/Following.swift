import Apus

/// Whether redirects are followed.
enum Following {
  /// The request that follows redirects, or does not. The library follows none yet, so both are the request as it is.
  static func set(_ follows: Bool, on request: Request<Content>) -> Request<Content> {
    request
  }
}
