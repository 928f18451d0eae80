/// The decision of a cache about a call, in the form of the field `Cache-Status` (RFC 9211).
///
/// A response has it in ``Response/cacheStatus``, an error in its trace (``TraceEvent/Kind/cache(_:)``).
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
  /// The reason why a request was sent to the server (RFC 9211 §2.2).
  package enum Forward: String, Hashable, Sendable {
    /// The cache does not handle the request.
    case bypass
    /// The method is never answered from the cache.
    case method
    /// There is no stored response for the URL.
    case uriMiss = "uri-miss"
    /// There are stored responses for the URL, but not for the fields that `Vary` names.
    case varyMiss = "vary-miss"
    /// There is no usable stored response, for another reason.
    case miss
    /// The request required validation, or has conditions that only the server evaluates.
    case request
    /// The stored response was stale.
    case stale
    /// The requested range is not stored.
    case partial
  }

  /// The reason why the request was forwarded; `nil`: a stored response was used (`hit`).
  package var forward: Forward?
  /// The status of the server's response, if it differs from the status of the result.
  package var forwardStatus: Int?
  /// The remaining lifetime of the response in seconds; negative: stale.
  package var remainingSeconds: Int64?
  /// Whether the server's response was stored.
  package var isStored = false
  /// Whether the request was coalesced with another request.
  package var isCollapsed = false
  /// An additional word, a token (RFC 9110 §5.6.2).
  package var detail: String?
  /// Whether the result is a stored response past its lifetime: because the server allows it while the response is
  /// revalidated, because the call accepts it, or because the server cannot be reached.
  public package(set) var isStale = false

  /// - Parameters:
  ///   - forward: the reason why the request was forwarded. Default: `nil`, a stored response was used.
  ///   - remainingSeconds: the remaining lifetime. Default: `nil`, unknown.
  package init(forward: Forward? = nil, remainingSeconds: Int64? = nil) {
    (self.forward, self.remainingSeconds) = (forward, remainingSeconds)
  }

  /// The value of the field, for example `Apus; hit; ttl=376` or `Apus; fwd=stale; fwd-status=304; ttl=60; stored`.
  public var description: String {
    var text = "Apus"
    if let forward { text += "; fwd=\(forward.rawValue)" } else { text += "; hit" }
    if forward != nil, let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
    if let remainingSeconds { text += "; ttl=\(remainingSeconds)" }
    if forward != nil, isStored { text += "; stored" }
    if forward != nil, isCollapsed { text += "; collapsed" }
    if let detail { text += "; detail=\(detail)" }
    return text
  }
}

extension Trace {
  /// The last decision of a cache.
  package var cacheStatus: CacheStatus? {
    for event in events.reversed() {
      if case .cache(let status) = event.kind { return status }
    }
    return nil
  }
}
