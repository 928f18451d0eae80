import ApusCore
import HTTPTypes

/// The rules of a private cache (RFC 9111): what may be stored, which stored response answers a request, and how a
/// response changes what is stored. Pure functions; clocks and stores belong to the caller.
struct CacheRules: Hashable, Sendable {
  /// Whether a response without a lifetime stays fresh for a tenth of the time since its last modification, at most 24
  /// hours (RFC 9111 §4.2.2). Default: `false`, since responses of an API change without notice.
  var heuristicFreshness = false

  /// The reason why a response is not stored.
  enum Refusal: Hashable, Sendable {
    /// The method is not GET, HEAD or QUERY.
    case method
    /// The request or the response has `no-store`.
    case noStore
    /// The status must not be stored, or not by a cache that does not understand it.
    case status
    /// `Vary` contains `*`.
    case vary
    /// The content is not complete.
    case incomplete
    /// The response can never be used again: it has no lifetime, no validator, and must not be used stale.
    case unusable
    /// A response to a later request is stored.
    case older
  }

  /// Returns the reason why a response must not be stored, or `nil` if it may be stored (RFC 9111 §3).
  func refusal(toStore stored: StoredResponse, for request: CacheRequest) -> Refusal? {
    guard request.isCacheable else { return .method }
    let directives = stored.directives
    let status = stored.status
    if request.directives.noStore { return .noStore }
    if directives.mustUnderstand {
      // A cache that understands the status ignores the `no-store` for those that do not (§5.2.2.3).
      guard Self.isUnderstood(status) else { return .status }
    } else if directives.noStore {
      return .noStore
    }
    guard !Self.isNeverStored(status) else { return .status }
    guard !stored.variant.isUnmatchable else { return .vary }
    guard stored.isComplete else { return .incomplete }
    let isExplicit = stored.statedLifetime != nil || directives.isPublic || directives.isPrivate
    guard isExplicit || Self.isHeuristicallyCacheable(status) else { return .status }
    let isReusable =
      stored.hasValidator || mayEverBeStale(stored)
      || (!directives.noCache && !stored.isInvalidated && lifetime(of: stored, hasQuery: request.hasQuery) > 0)
    return isReusable ? nil : .unusable
  }

  /// Whether a stale response may be used without its server (RFC 9111 §4.2.4).
  func mayEverBeStale(_ stored: StoredResponse) -> Bool {
    !stored.directives.noCache && !stored.directives.mustRevalidate && !stored.isInvalidated
  }

  /// Whether a status may be stored without a lifetime (RFC 9110 §15.1). 206 is missing: parts are not stored.
  static func isHeuristicallyCacheable(_ status: HTTPResponse.Status) -> Bool {
    switch status.code {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether the status is defined in RFC 9110, so that its rules for caches are known.
  private static func isUnderstood(_ status: HTTPResponse.Status) -> Bool {
    switch status.code {
    case 200...205, 300...303, 307, 308, 400, 402...406, 408...417, 421, 422, 426, 500...505: true
    default: false
    }
  }

  /// Whether the status must not be stored at all: parts, 304, statuses about credentials, those that RFC 6585 excludes
  /// (§3 to §6), and those about a condition or a range of the request (412, 416), which are not part of the key.
  private static func isNeverStored(_ status: HTTPResponse.Status) -> Bool {
    switch status.code {
    case ..<200, 206, 304, 401, 407, 412, 416, 428, 429, 431, 511: true
    default: false
    }
  }
}
