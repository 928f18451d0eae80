public import ApusCore

/// The payload of a call's signature. Default: `nil`, selected by the kind of the content.
enum SigningPayloadKey: ContextKey {
  static let defaultValue: SignatureV4.Payload? = nil
  static let affectsCoalescing = false
}

/// The region of a call's signature. Default: `nil`, the region of the middleware.
enum SigningRegionKey: ContextKey {
  static let defaultValue: String? = nil
}

extension Endpoint {
  /// Sets how a ``SigningMiddleware`` signs the content (body) of this endpoint.
  ///
  /// Default: content in memory is signed by its digest. For S3, a file or a stream is not signed over https, and is
  /// sent in signed chunks over http. For any other service the digest of a file or a stream must be specified.
  public func signing(_ payload: SignatureV4.Payload) -> Request<Value> {
    setting(SigningPayloadKey.self, payload)
  }

  /// Sets the region for which a ``SigningMiddleware`` signs this endpoint. Default: the region of the middleware.
  public func signing(region: String) -> Request<Value> {
    setting(SigningRegionKey.self, region)
  }
}
