/// The decision of a cache about one request in the form of `Cache-Status` (RFC 9211), for example
/// `Apus; hit; ttl=376` or `Apus; fwd=stale; fwd-status=304; stored`.
struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
  /// The reason why a request was forwarded (RFC 9211 §2.2).
  enum Forward: String, Hashable, Sendable {
    /// The cache was not asked.
    case bypass
    /// The method is not cacheable.
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
  var forward: Forward?
  /// The status of the server's response, if it differs from the status of the result.
  var forwardStatus: Int?
  /// The remaining lifetime of the response in seconds; negative: stale.
  var remainingSeconds: Int64?
  /// Whether the server's response was stored.
  var isStored = false
  /// Whether the request was coalesced with another request.
  var isCollapsed = false
  /// An additional word, a token (RFC 9110 §5.6.2).
  var detail: String?

  /// The value of the field.
  var description: String {
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
