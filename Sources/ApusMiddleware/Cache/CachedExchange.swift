import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The exchange of a call whose response may be stored: from the lookup to the response and what it changes in the
/// cache. ``CacheRules`` make the decisions.
struct CachedExchange {
  let cache: ResponseCache
  let message: RequestMessage
  let context: CallContext
  let settings: CacheSettings
  let next: Next

  init(
    _ cache: ResponseCache, _ message: RequestMessage, _ call: (context: CallContext, settings: CacheSettings),
    _ next: Next
  ) {
    self.cache = cache
    self.message = message
    (context, settings) = call
    self.next = next
  }

  /// A call with the responses that are stored for it.
  struct Lookup {
    let call: CacheCall
    let entries: CacheEntries
    /// The parts of the message that concern the cache; `nil` until they are needed.
    var request: CacheRequest?
  }

  func response() async throws -> ResponseMessage {
    guard settings.mode != .some(.none), var lookup = try await lookup() else { return try await bypass() }
    if lookup.entries.isEmpty, lookup.call.isPlain, settings.mode == nil { return try await forward(nil, lookup) }
    let request = request(of: lookup)
    lookup.request = request
    return try await decide(lookup, for: request)
  }

  /// Returns what is stored; `nil` for a call that the cache does not handle.
  func lookup() async throws -> Lookup? {
    switch cache.store {
    case .memory(let store):
      guard let call = CacheCall(message, context, of: cache, store.subjects) else { return nil }
      return Lookup(call: call, entries: store.entries(for: call.key))
    case .folder(let store):
      guard let subjects = await store.subjects(), let call = CacheCall(message, context, of: cache, subjects) else {
        return nil
      }
      if call.removesAccount { await cache.removeAccount() }
      return Lookup(call: call, entries: await store.entries(for: call.key))
    }
  }

  private func decide(_ lookup: Lookup, for request: CacheRequest) async throws -> ResponseMessage {
    let now = cache.instant(context)
    switch cache.rules.decision(for: request, among: lookup.entries.responses.usable(in: context), at: now) {
    case .use(let hit):
      return try await result(hit, of: lookup, hit.cacheStatus)
    case .useAndRevalidate(let hit, let forward):
      // A call in the background does not start another one.
      if settings.isRevalidation { return try await self.forward(forward, lookup) }
      revalidate(hit.stored.id)
      return try await result(hit, of: lookup, hit.cacheStatus)
    case .forward(let forward):
      if let hit = recentFailure(of: forward, lookup, at: now) { return try await result(hit.0, of: lookup, hit.1) }
      return try await self.forward(forward, lookup)
    case .unsatisfiable:
      return unsatisfiable()
    }
  }

  /// Returns the parts of the message that concern the cache, with the policy of the call.
  func request(of lookup: Lookup) -> CacheRequest {
    if let request = lookup.request { return request }
    let call = lookup.call
    var head = message.head
    // The cookies of the jar are added further in. `Vary` may name them.
    if let cookies = call.cookies, !head.headerFields.contains(.cookie) { head.headerFields[.cookie] = cookies }
    var request = CacheRequest(head)
    request.allowedStaleness = settings.allowedStaleness
    switch settings.mode {
    case .reload: request.directives.noCache = true
    case .onlyIfCached:
      request.directives.onlyIfCached = true
      if let staleness = settings.allowedStaleness { request.directives.maxStale = staleness }
    default: break
    }
    if let seal = call.seal { request.seal = seal }
    return request
  }

  private func bypass() async throws -> ResponseMessage {
    guard settings.mode != .onlyIfCached else { return unsatisfiable() }
    let response = try await next(message, context: context)
    context.record(.cache(CacheStatus(forward: .bypass)))
    return response
  }

  /// Returns the response to a call that must not be forwarded (RFC 9111 §5.2.1.7).
  private func unsatisfiable() -> ResponseMessage {
    var status = CacheStatus(forward: .miss)
    status.detail = "only-if-cached"
    context.record(.cache(status))
    return ResponseMessage(head: HTTPResponse(status: .gatewayTimeout))
  }

  // MARK: Results from the cache

  /// Returns a stored response in the form that the request asks for.
  ///
  /// - Throws: ``TransportError`` if its content exceeds the limit of the call.
  func result(_ hit: CacheHit, of lookup: Lookup, _ status: CacheStatus) async throws -> ResponseMessage {
    guard let data = await content(of: hit, lookup.entries) else {
      // Another process has removed the entry in the meantime.
      return try await forward(nil, lookup)
    }
    if context.delivery == .buffered, data.count > context.contentLimit {
      throw TransportError.contentTooLarge(limit: context.contentLimit)
    }
    return cache.response(hit, data, status, to: context)
  }

  private func content(of hit: CacheHit, _ entries: CacheEntries) async -> Data? {
    if hit.form == .head || hit.form == .notModified { return Data() }
    guard let data = await cache.store.content(of: hit.stored.id, in: entries) else { return nil }
    guard case .part(let part) = hit.form else { return data }
    // The length was checked when the part was chosen.
    return data.dropFirst(Int(part.first)).prefix(Int(part.count))
  }

  // MARK: Stale responses

  /// Returns a stale response if a validation of it has just failed, so that an unreachable server gets at most one
  /// request a second.
  private func recentFailure(
    of forward: CacheForward, _ lookup: Lookup, at now: CacheInstant
  ) -> (CacheHit, CacheStatus)? {
    guard let id = forward.selected, !settings.isRevalidation,
      let failure = cache.revalidations.withLock({ $0.recentFailure(of: id, now: context.now) })
    else { return nil }
    return stale(after: failure, forward, lookup, at: now)
  }

  /// Returns the stale response that takes the place of a failure, if there is one.
  func stale(
    after failure: CacheFailure, _ forward: CacheForward, _ lookup: Lookup, at now: CacheInstant
  ) -> (CacheHit, CacheStatus)? {
    guard !lookup.entries.isEmpty, !settings.isRevalidation,
      let hit = cache.rules.staleHit(
        after: failure, to: request(of: lookup), among: lookup.entries.responses.usable(in: context), at: now)
    else { return nil }
    var status = hit.cacheStatus
    status.forward = forward.reason
    if case .status(let code) = failure { status.forwardStatus = code.code }
    status.detail = failure == .offline ? "offline" : "stale-if-error"
    return (hit, status)
  }

  /// Validates a stale response in the background: one call for each response, at most once a second.
  private func revalidate(_ id: UInt64) {
    guard cache.revalidations.withLock({ $0.start(id, now: context.now) }) else { return }
    let request = revalidation
    let client = context.sharedClient
    let clock = context.clock
    context.spawnDetached { [cache] in
      let status = try? await client.response(to: request).status
      let isFailed = status.map { $0 >= 500 } ?? true
      cache.revalidations.withLock { $0.end(id, after: isFailed ? .unreachable : nil, now: clock.now) }
    }
  }

  /// The request that validates a stale response in the background, without the range and the conditions of the call.
  private var revalidation: Request<Content> {
    var request = context.repeatedRequest
    request.fields.removeAll { Self.conditions.contains($0.name.lowercased()) }
    var settings = settings
    (settings.mode, settings.isRevalidation) = (nil, true)
    return request.timeout(.seconds(30)).priority(.low).setting(SharedWorkKey.self, true)
      .setting(CacheSettingsKey.self, settings)
  }

  private static let conditions: Set<String> = ["if-modified-since", "if-none-match", "if-range", "range"]
}

extension ResponseCache {
  /// Returns the response to a call that a stored response answers.
  func response(_ hit: CacheHit, _ data: Data, _ status: CacheStatus, to context: CallContext) -> ResponseMessage {
    store.used(hit.stored.id)
    var content = ResponseContent(data)
    content.isDecoded = !hit.stored.servesRanges
    if context.delivery == .buffered { context.received(data.count) }
    context.record(.cache(status))
    return ResponseMessage(head: hit.head, content: content)
  }
}

extension [StoredResponse] {
  /// The stored responses that may answer a call: redirects only if it does not follow them, because they are followed
  /// further in.
  func usable(in context: CallContext) -> [StoredResponse] {
    guard contains(where: \.isRedirect), context.values[RedirectPolicyKey.self] != .some(.none) else { return self }
    return filter { !$0.isRedirect }
  }
}

extension StoredResponse {
  /// Whether the response is a redirect that a client can follow.
  fileprivate var isRedirect: Bool { ResponseMessage.isRedirect(HTTPResponse(status: status, headerFields: fields)) }
}
