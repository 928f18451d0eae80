import ApusCore
import HTTPTypes

/// A failure of a forwarded request, as far as it matters for the use of a stale response (RFC 5861 §4).
enum CacheFailure: Hashable, Sendable {
  /// A response of the server. Only 500, 502, 503 and 504 count.
  case status(HTTPResponse.Status)
  /// The device has no network.
  case offline
  /// The server cannot be reached: connection failed, timeout, open circuit.
  case unreachable
  /// Any other failure: cancelled, refused by the client, another principal. A stale response is never used.
  case other
}

extension CacheRules {
  /// The staleness in seconds up to which a response is used without a network, even if neither the server nor the call
  /// allows it: 7 days.
  static let offlineStaleness: Int64 = 7 * 24 * 60 * 60

  /// Returns the stored response that is used in place of a failure, or `nil` if the failure is the result (RFC 9111
  /// §4.2.4).
  ///
  /// The staleness is limited by `stale-if-error` of the response or the request, or by the call. A response is never
  /// used if it has `no-cache` or `must-revalidate`, if an invalidation concerns it, or if the request asked for
  /// validation.
  func staleHit(
    after failure: CacheFailure, to request: CacheRequest, among stored: [StoredResponse], at now: CacheInstant
  ) -> CacheHit? {
    guard request.isCacheable, !request.isForServer, !request.directives.noCache, !request.directives.noStore,
      let selected = Self.newest(in: stored, where: { Self.matches($0, request) }), mayEverBeStale(selected),
      let limit = Self.stalenessLimit(after: failure, of: selected, for: request),
      let hit = hit(with: selected, for: request, at: now), hit.freshness.staleness <= Self.milliseconds(limit)
    else { return nil }
    return hit
  }

  /// Returns the permitted staleness in seconds, or `nil` if none is permitted.
  private static func stalenessLimit(
    after failure: CacheFailure, of stored: StoredResponse, for request: CacheRequest
  ) -> Int64? {
    let limits = [stored.directives.staleIfError, request.directives.staleIfError, request.allowedStaleness]
    let permitted = limits.compactMap { $0 }.max()
    switch failure {
    case .status(let status): return [500, 502, 503, 504].contains(status.code) ? permitted : nil
    case .unreachable: return permitted
    case .offline: return max(permitted ?? 0, offlineStaleness)
    case .other: return nil
    }
  }
}
