import ApusCore
import HTTPTypes

/// The decision of a cache about a request (RFC 9111 §4).
enum CacheDecision: Hashable, Sendable {
  /// A stored response is the result.
  case use(CacheHit)
  /// A stale response is the result, and a request in the background validates it (RFC 5861 §3). That request has the
  /// fields of the call without its range and its conditions.
  case useAndRevalidate(CacheHit, CacheForward)
  /// The request is sent to the server.
  case forward(CacheForward)
  /// The request must not be forwarded and no stored response may be used: the result is a 504 (RFC 9111 §5.2.1.7).
  case unsatisfiable
}

/// The use of a stored response.
struct CacheHit: Hashable, Sendable {
  /// The part of a stored response that is the result.
  enum Form: Hashable, Sendable {
    case whole
    /// The response without its content.
    case head
    /// A 206 with one range.
    case part(ByteRange)
    /// A 304, because the request named a validator of the stored response (RFC 9111 §4.3.2).
    case notModified
  }

  let stored: StoredResponse
  let form: Form
  let freshness: ResponseFreshness
}

/// The request to the server.
struct CacheForward: Hashable, Sendable {
  /// The reason, for `Cache-Status`.
  let reason: CacheStatus.Forward
  /// The fields that the cache adds, so that the server can confirm stored responses (RFC 9111 §4.3.1).
  var conditions = HTTPFields()
  /// The stored responses whose validators are in `conditions`.
  var candidates: [UInt64] = []
  /// The stored response that the request would get if it were fresh.
  var selected: UInt64?
}

extension CacheRules {
  /// Returns the decision about a request.
  ///
  /// - Parameters:
  ///   - stored: all responses that are stored under the key of the request, with any `Vary`.
  ///   - now: the current instant.
  func decision(
    for request: CacheRequest, among stored: [StoredResponse], at now: CacheInstant
  ) -> CacheDecision {
    guard request.isCacheable else { return forward(.method, request) }
    guard !request.directives.noStore else { return forward(.bypass, request) }
    guard !request.isForServer else { return forward(.request, request) }
    guard let selected = Self.newest(in: stored, where: { Self.matches($0, request) }) else {
      let isKnown = stored.contains { $0.answers(request.method) }
      return forward(isKnown ? .varyMiss : .uriMiss, request, validating: nil, among: stored)
    }
    guard let hit = hit(with: selected, for: request, at: now) else { return forward(.partial, request) }
    switch Self.permission(for: hit, request) {
    case .use:
      return .use(hit)
    case .useAndRevalidate where request.directives.onlyIfCached:
      return .use(hit)
    case .useAndRevalidate:
      return .useAndRevalidate(hit, Self.validation(of: selected, among: stored, for: request, .stale))
    case .validate(let reason):
      return forward(reason, request, validating: selected, among: stored)
    }
  }

  /// Returns the use of a stored response, for example of one that the server has confirmed, without a decision whether
  /// it may be used. `nil` if only the server has the requested range.
  func hit(with stored: StoredResponse, for request: CacheRequest, at now: CacheInstant) -> CacheHit? {
    guard let form = Self.form(of: stored, for: request) else { return nil }
    return CacheHit(stored: stored, form: form, freshness: freshness(of: stored, for: request, at: now))
  }

  private func forward(_ reason: CacheStatus.Forward, _ request: CacheRequest) -> CacheDecision {
    request.directives.onlyIfCached ? .unsatisfiable : .forward(CacheForward(reason: reason))
  }

  /// Forwards with the validators of stored responses, unless the request has conditions of its own.
  private func forward(
    _ reason: CacheStatus.Forward, _ request: CacheRequest, validating selected: StoredResponse?,
    among stored: [StoredResponse]
  ) -> CacheDecision {
    guard !request.directives.onlyIfCached else { return .unsatisfiable }
    guard !request.isConditional, request.range != .unsupported else {
      return .forward(CacheForward(reason: reason, selected: selected?.id))
    }
    return .forward(Self.validation(of: selected, among: stored, for: request, reason))
  }

  // MARK: Selection

  /// Whether a stored response was selected by the same method and the same fields (RFC 9111 §4, §4.1).
  static func matches(_ stored: StoredResponse, _ request: CacheRequest) -> Bool {
    stored.isComplete && stored.answers(request.method) && stored.variant.matches(request.fields, seal: request.seal)
  }

  /// Returns the newest of the responses that meet a condition, by `Date`, then by arrival (RFC 9111 §4).
  static func newest(
    in stored: [StoredResponse], where isIncluded: (StoredResponse) -> Bool = { _ in true }
  ) -> StoredResponse? {
    // Copies only the result: a stored response has many references to count.
    var newest: Int?
    for index in stored.indices where isIncluded(stored[index]) {
      if let newest, isOlder(stored[index], than: stored[newest]) { continue }
      newest = index
    }
    return newest.map { stored[$0] }
  }

  private static func isOlder(_ stored: StoredResponse, than other: StoredResponse) -> Bool {
    if stored.date != other.date { return stored.date < other.date }
    let (arrival, otherArrival) = (stored.exchange.responseTime.wall, other.exchange.responseTime.wall)
    return arrival == otherArrival ? stored.id < other.id : arrival < otherArrival
  }

  // MARK: Permission

  private enum Permission {
    case use
    case useAndRevalidate
    case validate(CacheStatus.Forward)
  }

  /// Returns whether a response may be used without its server (RFC 9111 §4.2, §4.2.4, §5.2.1).
  private static func permission(for hit: CacheHit, _ request: CacheRequest) -> Permission {
    let (directives, freshness) = (hit.stored.directives, hit.freshness)
    guard !hit.stored.isInvalidated, !directives.noCache else { return .validate(.stale) }
    guard !request.directives.noCache, accepts(hit, request.directives) else { return .validate(.request) }
    if freshness.isFresh { return .use }
    guard !directives.mustRevalidate else { return .validate(.stale) }
    if let limit = request.directives.maxStale, limit == .max || freshness.staleness <= milliseconds(limit) {
      return .use
    }
    // A request with `max-age` does not accept stale responses (§5.2.1.1).
    guard request.directives.maxAge == nil, let window = directives.staleWhileRevalidate,
      freshness.staleness <= milliseconds(window)
    else { return .validate(.stale) }
    return .useAndRevalidate
  }

  /// Whether the age of a response is within `max-age` and `min-fresh` of a request.
  private static func accepts(_ hit: CacheHit, _ directives: CacheControl) -> Bool {
    let freshness = hit.freshness
    if let minFresh = directives.minFresh, freshness.lifetime - freshness.age < milliseconds(minFresh) { return false }
    guard let maxAge = directives.maxAge else { return true }
    // `max-age=0` asks whether the response has changed, and an immutable one has not (RFC 8246 §2).
    if maxAge <= 0 { return hit.stored.directives.isImmutable && freshness.isFresh }
    return freshness.age <= milliseconds(maxAge)
  }

  static func milliseconds(_ seconds: Int64) -> Int64 { min(max(0, seconds), CacheControl.maximumSeconds) * 1000 }

  // MARK: Validation

  /// The largest number of entity tags in a request.
  static let maximumTags = 16

  /// Returns a request that validates stored responses (RFC 9111 §4.3.1).
  ///
  /// The entity tags of all variants are sent, so that the server can choose among them. The date is sent only if the
  /// selected response has no tag: a server ignores it beside tags.
  private static func validation(
    of selected: StoredResponse?, among stored: [StoredResponse], for request: CacheRequest,
    _ reason: CacheStatus.Forward
  ) -> CacheForward {
    var forward = CacheForward(reason: reason, selected: selected?.id)
    if let selected, selected.entityTag == nil {
      guard let date = selected.lastModified, selected.status.kind == .successful else { return forward }
      forward.conditions[.ifModifiedSince] = date
      forward.candidates = [selected.id]
      return forward
    }
    // Variants with different content codings may share a weak tag (RFC 9110 §8.8.1): it does not say which of them a
    // 304 confirms.
    let others = stored.filter {
      $0.id != selected?.id && $0.isComplete && $0.answers(request.method) && $0.entityTag?.isWeak != true
    }
    let ordered = (selected.map { [$0] } ?? []) + others.sorted { $0.date > $1.date }
    var tags: [String] = []
    for candidate in ordered where candidate.status.kind == .successful {
      guard let tag = candidate.entityTag?.text else { continue }
      if !tags.contains(tag) {
        guard tags.count < maximumTags else { break }
        tags.append(tag)
      }
      forward.candidates.append(candidate.id)
    }
    if !tags.isEmpty { forward.conditions[.ifNoneMatch] = tags.joined(separator: ", ") }
    return forward
  }
}
