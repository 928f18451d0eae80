public import ApusCore

/// How a call uses the client's ``ResponseCache``, see ``Endpoint/cache(_:)``.
public enum CachePolicy: Sendable, Hashable {
  /// The server is asked, even if a fresh response is stored. The server may confirm the stored response (304). The
  /// request carries `Cache-Control: no-cache`, so that caches on the way ask the server as well.
  case reload
  /// The server is not asked. Without a usable stored response the call fails with the status 504 (RFC 9111 §5.2.1.7).
  ///
  /// Together with ``allowStale(_:)``, a stale response is usable as well.
  case onlyIfCached
  /// The cache is not used: no stored response is the result, and the response is not stored.
  case none
  /// A stored response is the result up to this time after the end of its lifetime if the server cannot be reached or
  /// responds with 500, 502, 503 or 504, unless the response has `no-cache` or `must-revalidate` (RFC 9111 §4.2.4).
  case allowStale(Duration)
}

/// The settings of an endpoint for caching. A single setting, because most calls have none.
struct CacheSettings: Sendable, Hashable {
  /// The policies besides ``CachePolicy/allowStale(_:)``, of which the last one applies.
  var mode: CachePolicy?
  /// The staleness in seconds that the call accepts in place of a failure.
  var allowedStaleness: Int64?
  /// The lifetime in seconds of responses that say nothing about caching.
  var lifetime: Int64?
  /// The groups of the response.
  var groups: Set<String> = []
  /// The groups that the call invalidates.
  var invalidatedGroups: Set<String> = []
  /// Whether the call validates a stale response in the background: a fresh response is used, a stale one is not.
  var isRevalidation = false
}

enum CacheSettingsKey: ContextKey {
  /// Only the server says what is stored.
  static let defaultValue = CacheSettings()
  /// The message shows what differs.
  static let affectsCoalescing = false
}

extension Endpoint {
  /// Gives responses a lifetime: until it ends, the stored response is the result of further calls, without an exchange.
  ///
  /// The lifetime is for servers that say nothing about caching. It applies to responses with the status 200, 203, 204,
  /// 300, 301 or 308 to GET, HEAD and QUERY that have no `Cache-Control`, no `Expires` and no `Pragma`. It has no effect
  /// without a ``ResponseCache``.
  ///
  /// - Parameter lifetime: the time from the arrival of the response, in whole seconds.
  public func cache(for lifetime: Duration) -> Request<Value> {
    cacheSetting { $0.lifetime = max(0, lifetime.components.seconds) }
  }

  /// Sets how calls use the cache. Default: a fresh stored response is the result; without one the server is asked.
  ///
  /// ``CachePolicy/allowStale(_:)`` combines with each of the other policies, of which the last one applies. The policy
  /// has no effect without a ``ResponseCache``.
  public func cache(_ policy: CachePolicy) -> Request<Value> {
    cacheSetting { settings in
      if case .allowStale(let time) = policy {
        settings.allowedStaleness = max(0, time.components.seconds)
      } else {
        settings.mode = policy
      }
    }
  }

  /// Adds the response to groups, by which ``invalidates(_:)`` and ``Client/invalidate(_:)`` find it.
  ///
  /// The server may add the response to further groups by `Cache-Groups` (RFC 9875).
  public func cacheGroups(_ groups: String...) -> Request<Value> {
    cacheSetting { $0.groups.formUnion(groups) }
  }

  /// Invalidates groups of stored responses: they are validated before their next use.
  ///
  /// Applies to every response with a status below 400, and to every failure after which the server may have seen the
  /// request. In addition, a response to an unsafe method, such as POST, invalidates its own URL (RFC 9111 §4.4) and
  /// the groups that the server names in `Cache-Group-Invalidation` (RFC 9875).
  public func invalidates(_ groups: String...) -> Request<Value> {
    cacheSetting { $0.invalidatedGroups.formUnion(groups) }
  }

  private func cacheSetting(_ change: (inout CacheSettings) -> Void) -> Request<Value> {
    modified { change(&$0.options.values[CacheSettingsKey.self]) }
  }
}
