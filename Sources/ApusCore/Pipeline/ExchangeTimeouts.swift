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
