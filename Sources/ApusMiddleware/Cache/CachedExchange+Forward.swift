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
  ///
  /// - Parameter forward: what the request validates; `nil` if nothing is stored for it.
  func forward(_ forward: CacheForward?, _ lookup: Lookup) async throws -> ResponseMessage {
    let token = cache.store.begin()
    let response: ResponseMessage
    do {
      if let forward {
        response = try await next(request(for: forward), context: context(for: forward, lookup))
      } else {
        response = try await next(message, context: context)
      }
    } catch {
      cache.store.end()
      return try await result(after: CacheFailure(error), orElse: error, forward, lookup)
    }
    return try await received(response, forward, token, lookup)
  }

  /// Handles a response of the server.
  func received(
    _ response: ResponseMessage, _ forward: CacheForward?, _ token: UInt64, _ lookup: Lookup
  ) async throws -> ResponseMessage {
    let exchange = context.lastExchange
    // The target of a redirect is another URL.
    if exchange.isRedirected {
      cache.store.end()
      context.recordWithLast(.cache(CacheStatus(forward: forward?.reason ?? .uriMiss)))
      return response
    }
    if let stale = staleResult(in: response, forward, lookup) {
      cache.store.end()
      response.discard()
      return try await result(stale.0, of: lookup, stale.1)
    }
    if let id = forward?.selected { cache.revalidations.withLock { $0.succeed(id) } }
    return try await receive(response, Forwarded(forward ?? CacheForward(reason: .uriMiss), token, exchange), lookup)
  }

  /// A request on its way, or its response.
  fileprivate struct Forwarded {
    let forward: CacheForward
    let token: UInt64
    let exchange: CallContext.LastExchange

    init(_ forward: CacheForward, _ token: UInt64, _ exchange: CallContext.LastExchange) {
      (self.forward, self.token, self.exchange) = (forward, token, exchange)
    }
  }

  // MARK: Failures

  /// Returns the stale response that takes the place of an error.
  private func result(
    after failure: CacheFailure, orElse error: any Error, _ forward: CacheForward?, _ lookup: Lookup
  ) async throws -> ResponseMessage {
    guard let forward, let stale = stale(after: failure, forward, lookup, at: cache.instant(context)) else {
      // The time of the stale response has just ended.
      guard !(error is RecentFailure) else { return try await self.forward(nil, lookup) }
      throw error
    }
    // A failure of another call does not prolong the pause.
    if !(error is RecentFailure) { record(failure, of: forward) }
    return try await result(stale.0, of: lookup, stale.1)
  }

  /// Returns the stale response that takes the place of an error of the server.
  private func staleResult(
    in response: ResponseMessage, _ forward: CacheForward?, _ lookup: Lookup
  ) -> (CacheHit, CacheStatus)? {
    guard let forward, response.statusCode >= 500 else { return nil }
    let failure = CacheFailure.status(response.head.status)
    guard let hit = stale(after: failure, forward, lookup, at: cache.instant(context)) else { return nil }
    record(failure, of: forward)
    return hit
  }

  /// Records a failure of the server. A device that has a network again asks at once.
  private func record(_ failure: CacheFailure, of forward: CacheForward) {
    guard failure.isOfServer, let id = forward.selected else { return }
    cache.revalidations.withLock { $0.fail(id, failure, now: context.now) }
  }

  // MARK: The request

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

  private func context(for forward: CacheForward, _ lookup: Lookup) -> CallContext {
    guard let id = forward.selected else { return context }
    var context = context
    if !forward.conditions.isEmpty { context.values[OwnConditionsKey.self] = true }
    context.joinsValidation = !context.refusesCoalescing
    let now = cache.instant(context)
    if stale(after: .unreachable, forward, lookup, at: now) != nil {
      context.values[SharedExchangeKey.self] = steps(id)
    }
    // With a stale response at hand, the call does not wait for a network.
    if context.values[ConnectivityPolicyKey.self] == nil, stale(after: .offline, forward, lookup, at: now) != nil {
      context.values[ConnectivityPolicyKey.self] = .failFast
    }
    return context
  }

  /// Returns the steps by which a server that is down gets at most one request a second, also if many calls fail at the
  /// same time.
  private func steps(_ id: UInt64) -> SharedExchangeSteps {
    let clock = context.clock
    return SharedExchangeSteps { [cache] in
      let failure = cache.revalidations.withLock { $0.recentFailure(of: id, now: clock.now) }
      if let failure { throw RecentFailure(cause: failure) }
    } end: { [cache] result in
      guard let failure = CacheFailure(of: result) else { return }
      cache.revalidations.withLock { $0.fail(id, failure, now: clock.now) }
    }
  }

  // MARK: The response

  private func receive(
    _ response: ResponseMessage, _ forwarded: Forwarded, _ lookup: Lookup
  ) async throws -> ResponseMessage {
    // Other calls may have stored responses in the meantime.
    let entries = await cache.store.entries(for: lookup.call.key)
    let request = request(of: lookup)
    let times = times(of: forwarded)
    var message = ForwardedRequest(
      request: request, forward: forwarded.forward, stored: entries.responses, exchange: times)
    message.endpointLifetime = settings.lifetime
    message.endpointGroups = settings.groups
    let update = cache.rules.update(after: response.head, to: message)
    switch update.result {
    case .received:
      return try await store(response, update, forwarded, lookup.call)
    case .repeatUnconditionally:
      cache.store.end()
      response.discard()
      return try await forward(nil, lookup)
    case .stored(let stored):
      response.discard()
      let isStored = await apply(update, nil, forwarded, lookup.call)
      cache.store.end()
      guard let hit = cache.rules.hit(with: stored, for: request, at: times.responseTime) else {
        return try await forward(nil, lookup)
      }
      let present = Lookup(call: lookup.call, entries: entries, request: request)
      var confirmed = try await result(hit, of: present, status(of: hit, forwarded, isStored))
      confirmed.head.headerFields.append(contentsOf: update.unstoredFields)
      return confirmed
    }
  }

  /// Returns the status of a stored response that the server has confirmed.
  private func status(of hit: CacheHit, _ forwarded: Forwarded, _ isStored: Bool) -> CacheStatus {
    var status = hit.cacheStatus
    (status.forward, status.forwardStatus) = (forwarded.forward.reason, 304)
    (status.isStored, status.isCollapsed, status.isStale) = (isStored, forwarded.exchange.isShared, false)
    return status
  }

  /// Returns the times of the exchange on both clocks.
  private func times(of forwarded: Forwarded) -> CacheExchange {
    let now = cache.instant(context)
    let end = forwarded.exchange.head.map { now.moved(to: $0) } ?? now
    let start = forwarded.exchange.start.map { now.moved(to: $0) } ?? end
    return CacheExchange(requestTime: start, responseTime: end, generation: forwarded.token)
  }

  // MARK: Storing

  /// Stores the response if it may be stored, and returns it. Content that is still arriving is stored while the app
  /// reads it.
  private func store(
    _ response: ResponseMessage, _ update: CacheUpdate, _ forwarded: Forwarded, _ call: CacheCall
  ) async throws -> ResponseMessage {
    var status = CacheStatus(forward: forwarded.forward.reason)
    status.isCollapsed = forwarded.exchange.isShared
    var update = update
    if update.new != nil, !mayBelong(to: call.key) || response.isEventStream { update.new = nil }
    var content: Data?
    if update.new != nil {
      update.new?.servesRanges = !response.content.isDecoded
      content = response.content.bytes
      guard let content else { return storing(response, update, forwarded, call) }
      update.new?.contentLength = Int64(content.count)
    }
    status.isStored = await apply(update, content, forwarded, call) && update.new != nil
    cache.store.end()
    context.recordWithLast(.cache(status))
    return response
  }

  /// Changes what is stored. The call that performed the exchange does it for all calls that share the exchange.
  private func apply(
    _ update: CacheUpdate, _ content: Data?, _ forwarded: Forwarded, _ call: CacheCall
  ) async -> Bool {
    guard update.hasEffect, !forwarded.exchange.isShared else { return false }
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
    context.recordWithLast(.cache(CacheStatus(forward: forwarded.forward.reason)))
    let store = cache.store
    let source = StoringSource(response.content, limit: cache.entryLimit) { data in
      var update = update
      update.new?.contentLength = Int64(data.count)
      _ = await store.apply(update, content: data, under: call.key, at: call.origin)
    } end: {
      store.end()
    }
    var content = ResponseContent(source: source, expectedLength: response.content.expectedLength)
    content.isDecoded = response.content.isDecoded
    var stored = response
    stored.content = content
    return stored
  }
}

/// The error of a call that did not begin an exchange, because a validation of the same response has just failed. The
/// calls that get it have a stale response.
private struct RecentFailure: Error {
  let cause: CacheFailure
}

extension CacheInstant {
  /// Returns the reading of both clocks at another instant of the monotonic clock.
  fileprivate func moved(to instant: MonotonicInstant) -> CacheInstant {
    let milliseconds = instant.sinceStart.milliseconds
    return CacheInstant(wall: wall + milliseconds.clampedMinus(monotonic ?? milliseconds), monotonic: milliseconds)
  }
}

extension ResponseMessage {
  /// Whether the content is a stream of events, which ends only by chance.
  fileprivate var isEventStream: Bool {
    guard content.bytes == nil, let type = head.headerFields.single(.contentType) else { return false }
    return MediaType(type).essence == "text/event-stream"
  }

  /// Whether the response has a plain `no-store`, as most responses that are not stored. Other forms are found by
  /// ``CacheControl``.
  var isMarkedNoStore: Bool {
    // The subscript for all values of a name costs more than reading all fields, and a comparison more than a length.
    head.headerFields.contains { field in
      field.name.canonicalName.utf8.count == 13 && field.name == .cacheControl && field.value == "no-store"
    }
  }
}

extension CacheFailure {
  /// Whether the server has failed: a device that has a network again asks at once.
  fileprivate var isOfServer: Bool {
    switch self {
    case .status, .unreachable: true
    case .offline, .other: false
    }
  }

  /// Classifies the result of an exchange; `nil`: the server has not failed.
  fileprivate init?(of result: Result<ResponseMessage, any Error>) {
    switch result {
    case .success(let response):
      guard response.statusCode >= 500 else { return nil }
      self = .status(response.head.status)
    case .failure(let error):
      self.init(error)
      guard isOfServer, !(error is RecentFailure) else { return nil }
    }
  }

  /// Classifies the error of a call: whether the server or the network failed, not the client.
  init(_ error: any Error) {
    if let recent = error as? RecentFailure {
      self = recent.cause
      return
    }
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
