public import ApusCore
import HTTPTypes

extension Endpoint {
  /// Trusts origins: calls of this endpoint may send the environment's credentials and sensitive fields to them, as to
  /// the origin of the base URL. Default: none.
  ///
  /// Use this modifier for complete URLs (``RequestPath/url(_:relativeTo:)-(String,_)``) on other origins of the same
  /// API:
  ///
  /// <!-- sample: trusting as Request<Data> -->
  /// ```swift
  /// .get(.url("https://files.example.com/7")).trusting(Origin(scheme: "https", host: "files.example.com", port: 443))
  /// ```
  ///
  /// If all calls may send credentials to several origins, set these origins in the ``Authentication`` (`origins:`).
  public func trusting(_ origins: Origin...) -> Request<Value> {
    modified { $0.options.values[TrustedOriginsKey.self].formUnion(origins) }
  }
}

extension CallContext {
  /// Whether a message is sent to the environment's own origin, or to an origin that its endpoint trusts.
  package func isTrusted(_ request: RequestMessage) -> Bool {
    environment.baseURL.origin.map { request.goes(to: $0) } ?? false || endpointTrusts(request)
  }

  /// Whether the endpoint trusts the origin of a message.
  func endpointTrusts(_ request: RequestMessage) -> Bool {
    let trusted = values[TrustedOriginsKey.self]
    return !trusted.isEmpty && request.origin.map { trusted.contains($0) } ?? false
  }
}

extension RequestMessage {
  /// Whether the message is sent to an origin.
  ///
  /// Most messages go to the origin of their environment and spell it the same way, so strings are compared first.
  fileprivate func goes(to origin: Origin) -> Bool {
    head.scheme == origin.scheme && head.authority == origin.authority || self.origin == origin
  }
}
