import ApusCore
import HTTPTypes

/// The lifetime and the age of a stored response at an instant (RFC 9111 §4.2), in milliseconds.
struct ResponseFreshness: Hashable, Sendable {
  let lifetime: Int64
  /// The time since the origin created or validated the response. Longer than any lifetime if it is unknown.
  let age: Int64

  /// The age of a response whose age is unknown because the wall clock was set back.
  static let unknownAge = Int64.max / 2

  var isFresh: Bool { lifetime > age }
  /// The time since the end of the lifetime; 0 for a fresh response.
  var staleness: Int64 { max(0, age - lifetime) }
  /// The seconds until the end of the lifetime, rounded down; negative for a stale response.
  var remainingSeconds: Int64 { (lifetime - age) / 1000 - ((lifetime - age) % 1000 < 0 ? 1 : 0) }
}

extension StoredResponse {
  /// Returns the age at an instant (RFC 9111 §4.2.3), in milliseconds.
  func age(at now: CacheInstant) -> Int64 {
    guard let resident = exchange.responseTime.elapsed(until: now) else { return ResponseFreshness.unknownAge }
    return min(initialAge + resident, ResponseFreshness.unknownAge)
  }

  /// Returns the seconds from `Date` to `Expires`, or `nil` without `Expires` (RFC 9111 §4.2.1).
  static func expiresLifetime(in fields: HTTPFields, date: Int64) -> Int64? {
    guard fields.contains(.expires) else { return nil }
    // An invalid date is in the past (§5.3), and so are two different dates.
    guard let expires = fields.single(.expires).flatMap({ HTTPDate.parse($0) }) else { return 0 }
    return min(max(0, expires.clampedMinus(date)), CacheControl.maximumSeconds)
  }

  /// Whether a lifetime of the endpoint applies to the response: only if the response says nothing about caching.
  var acceptsEndpointLifetime: Bool {
    !directives.isPresent && !fields.contains(.expires) && CacheRequest.pragma.map { !fields.contains($0) } ?? true
      && Self.statusesWithEndpointLifetime.contains(status.code)
  }

  private static let statusesWithEndpointLifetime: Set<Int> = [200, 203, 204, 300, 301, 308]
}

extension CacheRules {
  /// Returns the lifetime and the age of a stored response.
  func freshness(of stored: StoredResponse, for request: CacheRequest, at now: CacheInstant) -> ResponseFreshness {
    ResponseFreshness(lifetime: lifetime(of: stored, hasQuery: request.hasQuery) * 1000, age: stored.age(at: now))
  }

  /// Returns the lifetime in seconds: what the response states, else what the endpoint gives, else the heuristic.
  func lifetime(of stored: StoredResponse, hasQuery: Bool) -> Int64 {
    if let stated = stored.statedLifetime { return stated }
    if let seconds = stored.endpointLifetime, stored.acceptsEndpointLifetime {
      return min(max(0, seconds), CacheControl.maximumSeconds)
    }
    return heuristicFreshness && !hasQuery ? Self.heuristicLifetime(of: stored) : 0
  }

  /// Returns a tenth of the time since the last modification, at most 24 hours (RFC 9111 §4.2.2).
  private static func heuristicLifetime(of stored: StoredResponse) -> Int64 {
    let isAllowed = isHeuristicallyCacheable(stored.status) || stored.directives.isPublic
    guard isAllowed, !stored.hasPragmaNoCache, let modified = stored.lastModified.flatMap({ HTTPDate.parse($0) })
    else { return 0 }
    return min(max(0, stored.date.clampedMinus(modified) / 10), 24 * 60 * 60)
  }
}

extension StoredResponse {
  fileprivate var hasPragmaNoCache: Bool {
    guard !directives.isPresent, let name = CacheRequest.pragma else { return false }
    return fields[values: name].contains(where: CacheRequest.hasNoCache)
  }
}
