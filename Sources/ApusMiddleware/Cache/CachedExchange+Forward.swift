import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The exchange with the server, and what its response changes in the cache.
extension CachedExchange {
  /// Sends the request to the server.
  func forward(_ forward: CacheForward, _ lookup: Lookup) async throws -> ResponseMessage {
    let token = await cache.store.begin()
    let requestTime = cache.instant(context)
    let response: ResponseMessage
    do {
      response = try await next(request(for: forward), context: context(for: forward, lookup, at: requestTime))
    } catch {
      cache.store.end(token)
      guard let hit = stale(after: CacheFailure(error), forward, lookup, at: cache.instant(context)) else {
        throw error
      }
      record(CacheFailure(error), of: forward)
      return try await result(hit.0, of: lookup, hit.1)
    }
    let times = (requestTime, cache.instant(context))
    // The response belongs to another URL.
    if context.isRedirected {
      cache.store.end(token)
      context.record(.cache(CacheStatus(forward: forward.reason)))
      return response
    }
    let failure = CacheFailure.status(response.head.status)
    if let hit = stale(after: failure, forward, lookup, at: times.1) {
      cache.store.end(token)
      response.discard()
      record(failure, of: forward)
      return try await result(hit.0, of: lookup, hit.1)
    }
    if let id = forward.selected { cache.revalidations.withLock { $0.succeed(id) } }
    return try await receive(response, Forwarded(forward, token, times), lookup)
  }

  /// A request on its way, or its response.
  fileprivate struct Forwarded {
    let forward: CacheForward
    let token: UInt64
    let exchange: CacheExchange

    init(_ forward: CacheForward, _ token: UInt64, _ times: (CacheInstant, CacheInstant)) {
      (self.forward, self.token) = (forward, token)
      exchange = CacheExchange(requestTime: times.0, responseTime: times.1, generation: token)
    }
  }

  private func record(_ failure: CacheFailure, of forward: CacheForward) {
    guard let id = forward.selected else { return }
    cache.revalidations.withLock { $0.fail(id, failure, now: context.now) }
  }

  /// Returns the message with the conditions of the cache.
  private func request(for forward: CacheForward) -> RequestMessage {
    guard !forward.conditions.isEmpty || settings.mode == .reload else { return message }
    var message = message
    message.head.headerFields.append(contentsOf: forward.conditions)
    if settings.mode == .reload, !message.head.headerFields.contains(.cacheControl) {
      message.head.headerFields[.cacheControl] = "no-cache"
    }
    return message
  }

  private func context(for forward: CacheForward, _ lookup: Lookup, at now: CacheInstant) -> CallContext {
    guard forward.selected != nil else { return context }
    var context = context
    if !forward.conditions.isEmpty {
      context.values[CacheConditionsKey.self] = true
      context.joinsValidation = !context.refusesCoalescing
    }
    // With a stale response at hand, the call does not wait for a network.
    if stale(after: .offline, forward, lookup, at: now) != nil, context.values[ConnectivityPolicyKey.self] == nil {
      context.values[ConnectivityPolicyKey.self] = .failFast
    }
    return context
  }

  // MARK: The response

  private func receive(
    _ response: ResponseMessage, _ forwarded: Forwarded, _ lookup: Lookup
  ) async throws -> ResponseMessage {
    // Other calls may have stored responses in the meantime.
    let entries = await cache.store.entries(for: lookup.call.key)
    let update = update(after: response.head, forwarded, entries.responses, lookup.request)
    switch update.result {
    case .received:
      return try await store(response, update, forwarded, lookup.call)
    case .repeatUnconditionally:
      cache.store.end(forwarded.token)
      response.discard()
      return try await forward(CacheForward(reason: forwarded.forward.reason), lookup)
    case .stored(let stored):
      response.discard()
      // The call that performed the exchange stores its result for all calls that share it.
      var isStored = context.followsExchange
      if !isStored { isStored = await apply(update, nil, lookup.call) }
      cache.store.end(forwarded.token)
      guard let hit = cache.rules.hit(with: stored, for: lookup.request, at: forwarded.exchange.responseTime) else {
        return try await forward(CacheForward(reason: forwarded.forward.reason), lookup)
      }
      var status = hit.cacheStatus
      (status.forward, status.forwardStatus) = (forwarded.forward.reason, 304)
      (status.isStored, status.isCollapsed) = (isStored, context.followsExchange)
      // The server has just confirmed the response.
      status.isStale = false
      let present = Lookup(call: lookup.call, request: lookup.request, entries: entries)
      var confirmed = try await result(hit, of: present, status)
      confirmed.head.headerFields.append(contentsOf: update.unstoredFields)
      return confirmed
    }
  }

  private func update(
    after head: HTTPResponse, _ forwarded: Forwarded, _ stored: [StoredResponse], _ request: CacheRequest
  ) -> CacheUpdate {
    var message = ForwardedRequest(
      request: request, forward: forwarded.forward, stored: stored, exchange: forwarded.exchange)
    message.endpointLifetime = settings.lifetime
    message.endpointGroups = settings.groups
    return cache.rules.update(after: head, to: message)
  }

  // MARK: Storing

  /// Stores the response if it may be stored, and returns it. Content that is still arriving is stored while the app
  /// reads it.
  private func store(
    _ response: ResponseMessage, _ update: CacheUpdate, _ forwarded: Forwarded, _ call: CacheCall
  ) async throws -> ResponseMessage {
    var status = CacheStatus(forward: forwarded.forward.reason)
    status.isCollapsed = context.followsExchange
    var update = update
    if update.new != nil, !mayBelong(to: call.key) || context.followsExchange { update.new = nil }
    guard update.new != nil else {
      if !context.followsExchange { _ = await apply(update, nil, call) }
      cache.store.end(forwarded.token)
      context.record(.cache(status))
      return response
    }
    update.new?.servesRanges = !response.content.isDecoded
    guard let data = response.content.bytes else { return storing(response, update, forwarded, call) }
    update.new?.contentLength = Int64(data.count)
    status.isStored = await apply(update, data, call)
    cache.store.end(forwarded.token)
    context.record(.cache(status))
    return response
  }

  private func apply(_ update: CacheUpdate, _ content: Data?, _ call: CacheCall) async -> Bool {
    guard update.hasEffect else { return false }
    return await cache.store.apply(update, content: content, under: call.key, at: call.origin)
  }

  /// Whether everything secret in the message that was sent is part of the key. A middleware of the app may add
  /// credentials that neither the principal nor the message at this slot shows.
  private func mayBelong(to key: CacheKey) -> Bool {
    guard key.account == nil, let sent = context.sentMessage else { return true }
    return !sent.head.headerFields.contains { CacheSession.isSecret($0) }
  }

  /// Returns the response with content that is stored once the app has read it to its end.
  private func storing(
    _ response: ResponseMessage, _ update: CacheUpdate, _ forwarded: Forwarded, _ call: CacheCall
  ) -> ResponseMessage {
    context.record(.cache(CacheStatus(forward: forwarded.forward.reason)))
    let (store, token) = (cache.store, forwarded.token)
    let source = StoringSource(response.content, limit: cache.entryLimit) { data in
      var update = update
      update.new?.contentLength = Int64(data.count)
      _ = await store.apply(update, content: data, under: call.key, at: call.origin)
    } end: {
      store.end(token)
    }
    var content = ResponseContent(source: source, expectedLength: response.content.expectedLength)
    content.isDecoded = response.content.isDecoded
    var stored = response
    stored.content = content
    return stored
  }
}

extension CacheFailure {
  /// Classifies the error of a call: whether the server or the network failed, not the client.
  init(_ error: any Error) {
    guard let error = error as? TransportError else {
      self = .other
      return
    }
    switch error.code {
    case .offline: self = .offline
    case .refused where error.underlying is BreakerRefusal: self = .unreachable
    case .hostNotFound, .connectionFailed, .connectionLost, .timeout:
      self = error.source == .server ? .unreachable : .other
    default: self = .other
    }
  }
}
