public import HTTPTypes

/// How long the parts of one call's exchanges may take, where that is to be other than what its transport does anyway.
///
/// Set with `request.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(120)))`; the limit of the whole
/// call is `timeout`, that of an attempt `attemptTimeout`. A call that passes one fails with the code `timeout` and the
/// phase it was in. Each is `nil` by default: the transport's own limit. One that is not positive is passed at once.
///
/// `NIOTransport` keeps them without a task. `URLSessionTransport` has no such limits and keeps none of them. With every
/// transport, ``stall`` is also the stall limit of a call with the default deadline
/// (``CallContext/limitUntilContentMoves(_:)``).
public struct ExchangeTimeouts: ContextKey, Sendable, Hashable {
  /// The transport's own.
  public static let defaultValue = ExchangeTimeouts()

  /// How long it may take until the exchange has a connection: waiting for one that others use included, which a
  /// transport's own limit on connecting does not count. The phase is `connecting`, and nothing was sent; where the
  /// connections that there may be are used by others, the error counts nothing against the server
  /// (``TransportError/Subject/control``).
  public var connection: Duration?
  /// How long the head of the answer may take from the moment the request has left. The phase is `awaitingHead`.
  public var firstByte: Duration?
  /// How long no byte may move in either direction while content is on its way. The phase is `connecting` until the head
  /// of the answer is there, then `receiving`. 20 seconds where neither this nor a transport says otherwise.
  ///
  /// Time in which the caller does not read the response, or is still producing content, does not count. A byte sent has
  /// moved when the server's system has confirmed it, which happens in steps: the slowest upload that is no stall is one
  /// step in this time, usually about 8 KiB, over loopback up to 64 KiB.
  public var stall: Duration?

  /// Makes limits; those left out are the transport's own.
  public init(connection: Duration? = nil, firstByte: Duration? = nil, stall: Duration? = nil) {
    self.connection = connection
    self.firstByte = firstByte
    self.stall = stall
  }
}

/// Whether an exchange goes out on a connection that nothing was sent on before.
///
/// For requests that must not be repeated and are worth a handshake, such as the one that buys new tokens: a connection
/// that has been idle may be closed by the server just as the request is sent, and then nobody knows whether the server
/// has acted on it. `NIOTransport` honours it. `URLSessionTransport` cannot choose connections, and ignores it.
public enum NewConnectionKey: ContextKey {
  /// Any connection will do.
  public static let defaultValue = false
}

/// Where a call keeps who is told of interim responses (RFC 9110 §15.2), for example of early hints.
///
/// Set with `request.setting(InterimResponses.self) { … }`. Called where the response arrives, before the head of the
/// final one is there: be quick. Transports that cannot see interim responses tell of none.
public enum InterimResponses: ContextKey {
  /// Nobody is told.
  public static let defaultValue: (@Sendable (HTTPResponse) -> Void)? = nil
}

/// Whether a call does work for many others, such as fetching a token: then whoever cancels many calls at once, by tag,
/// endpoint, rule or all of them, does not mean it. By its id it is cancelled like any other.
public enum SharedWorkKey: ContextKey {
  /// A call is the app's own.
  public static let defaultValue = false
}

/// Whether a call's endpoint declares that a server which gets its request twice does the same as after one; `nil`, the
/// default: as the method says (``HTTPTypes/HTTPRequest/Method/isIdempotent``).
///
/// Everything that repeats a message reads it, transports included, through ``CallContext/isRepeatable(_:)``.
public enum IdempotenceKey: ContextKey {
  /// As the method says.
  public static let defaultValue: Bool? = nil
}

/// The name of the field that holds a call's idempotency key, beside the standard `Idempotency-Key`; `nil`: none.
public enum IdempotencyFieldKey: ContextKey {
  /// No other field than the standard one.
  public static let defaultValue: String? = nil
}
