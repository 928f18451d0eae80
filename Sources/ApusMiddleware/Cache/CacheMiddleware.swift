package import ApusCore
import HTTPTypes

/// A middleware that answers calls from a ``ResponseCache``, stores responses, and invalidates what unsafe requests
/// change.
///
/// It is outside retry and scheduling, so that a stored response needs no permit, no token and no connection; inside the
/// principal, because a stored response belongs to an account.
package final class CacheMiddleware: ConditionalMiddleware {
  let cache: ResponseCache

  /// Creates the middleware.
  package init(_ cache: ResponseCache) {
    self.cache = cache
  }

  package var audience: MiddlewareAudience {
    .callsThat { $0.method.isStorable || $0.values.contains(CacheSettingsKey.self) }
  }

  /// Returns a stored response, or passes the message on and stores the response.
  ///
  /// - Throws: the error of `next`, unless a stale response is used in its place.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described else { return try await next(request, context: context) }
    let settings = context.values[CacheSettingsKey.self]
    let exchange = CachedExchange(cache, request, (context, settings), next)
    if settings.invalidatedGroups.isEmpty, request.head.method.isStorable { return try await exchange.response() }
    return try await invalidating(settings.invalidatedGroups, exchange)
  }

  // MARK: Invalidation

  /// Performs an exchange, and invalidates what the endpoint names.
  private func invalidating(_ groups: Set<String>, _ exchange: CachedExchange) async throws -> ResponseMessage {
    let (request, context) = (exchange.message, exchange.context)
    let response: ResponseMessage
    do {
      if request.head.method.isStorable {
        response = try await exchange.response()
      } else {
        response = try await exchange.next(request, context: context)
        await unsafeCallEnded(request, response, context)
      }
    } catch {
      // Without a response it is unknown whether the server has acted on the request, in any of the attempts.
      let wasSent = (error as? TransportError).map { $0.requestState != .notSent } ?? false
      if wasSent || context.requestState != .notSent { await cache.store.invalidate(groups: groups) }
      throw error
    }
    if response.statusCode < 400 { await cache.store.invalidate(groups: groups) }
    return response
  }

  /// Invalidates what a response to an unsafe request changes by itself.
  func unsafeCallEnded(_ request: RequestMessage, _ response: ResponseMessage, _ context: CallContext) async {
    guard !request.head.method.isSafe, let origin = context.origin(of: request) else { return }
    // The fields of a redirect's target are those of another URL.
    let head = context.lastExchange.isRedirected ? HTTPResponse(status: response.head.status) : response.head
    guard let invalidation = CacheInvalidation(after: head, to: request.head, at: origin) else { return }
    await cache.store.invalidate(invalidation)
  }
}

extension CacheMiddleware: SessionKeeping {
  /// Removes the account's responses.
  package func signedOut(of environment: Environment) async {
    await cache.removeAccount()
  }
}

extension CacheMiddleware: SelfDescribing {
  /// The place, the capacity and the limits for `describe()`.
  package var facts: [Fact] { cache.facts }
}

extension HTTPRequest.Method {
  /// Whether responses to the method may be stored: GET, HEAD and QUERY (RFC 9110 §9.2.3, RFC 10008).
  var isStorable: Bool {
    switch rawValue.utf8.count {
    case 3: self == .get
    case 4: self == .head
    case 5: rawValue == "QUERY"
    default: false
    }
  }
}
