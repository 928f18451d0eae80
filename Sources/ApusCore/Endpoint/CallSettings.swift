public import HTTPTypes

/// The timeouts of a call's exchanges, which replace the transport's timeouts.
///
/// Set them with `request.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(120)))`. The timeout of
/// the whole call is `timeout`; the timeout of an attempt is `attemptTimeout`. A call that exceeds a timeout fails with
/// the code `timeout` and its phase. Each timeout is `nil` by default, which means the transport's own timeout. A
/// timeout that is zero or negative expires immediately.
///
/// `NIOTransport` enforces all of them. `URLSessionTransport` has no such timeouts and ignores them. With any
/// transport, ``stall`` also replaces the 20 seconds after which a call under its client's default timeout ends without
/// progress.
public struct ExchangeTimeouts: ContextKey, Sendable, Hashable {
  /// The transport's own timeouts.
  public static let defaultValue = ExchangeTimeouts()

  /// The maximum time until the exchange has a connection, the wait in the connection pool's queue included.
  ///
  /// The transport's own connect timeout does not count that wait. The phase is `connecting`, and nothing was sent. If
  /// all permitted connections are in use, the error does not count against the server
  /// (``TransportError/Source/trafficControl``).
  public var connection: Duration?
  /// The maximum time from the end of the request to the response head. The phase is `awaitingHead`.
  public var firstByte: Duration?
  /// The maximum time without progress in either direction while content (body) is transferred.
  ///
  /// The phase is `connecting` until the response head has arrived, then `receiving`. 20 seconds if neither this value
  /// nor the transport's is set.
  ///
  /// Time during which the caller does not read the response, or is still producing content, does not count. A sent
  /// byte counts as progress once the server's system has acknowledged it. This usually happens in steps of about 8
  /// KiB, and over loopback in steps of up to 64 KiB. An upload stalls if a single step takes longer than this timeout.
  public var stall: Duration?

  /// Creates timeouts. `nil` means the transport's own timeout.
  public init(connection: Duration? = nil, firstByte: Duration? = nil, stall: Duration? = nil) {
    self.connection = connection
    self.firstByte = firstByte
    self.stall = stall
  }
}

/// Whether a call requires a new connection. Default: `false`.
///
/// For requests that must not be repeated, such as a token refresh. The server may close an idle connection just as a
/// request is sent; the client then cannot determine whether the server has acted on the request. `NIOTransport` honors
/// this key. `URLSessionTransport` cannot choose connections and ignores it.
package enum NewConnectionKey: ContextKey {
  /// A pooled connection may be reused.
  package static let defaultValue = false
}

/// A handler for interim responses (RFC 9110 §15.2), for example early hints.
///
/// Set it with `request.setting(InterimResponses.self) { … }`. The transport calls the handler as soon as an interim
/// response arrives, so it must return quickly. Transports that do not receive interim responses never call it.
public enum InterimResponses: ContextKey {
  /// No handler.
  public static let defaultValue: (@Sendable (HTTPResponse) -> Void)? = nil
}

/// Whether a call does work that other calls wait for, such as a token refresh. Default: `false`.
///
/// Cancelling calls by tag, endpoint or predicate, or cancelling all calls, skips such a call. Cancelling it by id
/// works as for any other call.
public enum SharedWorkKey: ContextKey {
  /// No other call waits for this call.
  public static let defaultValue = false
}

/// Whether a call's endpoint is declared idempotent. Default: `nil`, which means that the method determines it (RFC
/// 9110 §9.2.2).
///
/// Middlewares and transports read it through ``CallContext/isRepeatable(_:)`` before they repeat a request.
package enum IdempotenceKey: ContextKey {
  /// The method decides.
  package static let defaultValue: Bool? = nil
}

/// The name of a field (header) that carries the call's idempotency key in addition to `Idempotency-Key`. Default:
/// `nil`.
package enum IdempotencyFieldKey: ContextKey {
  /// Only `Idempotency-Key`.
  package static let defaultValue: String? = nil
}

/// Whether the content (body) of a call and of its response is omitted from logs, for example of a sign-in. Default:
/// `false`.
package enum ConfidentialContentKey: ContextKey {
  /// The content may be logged.
  package static let defaultValue = false
}

/// The origins that an endpoint trusts like the environment's own. Default: none.
package enum TrustedOriginsKey: ContextKey {
  /// No other origin.
  package static let defaultValue: Set<Origin> = []
}
