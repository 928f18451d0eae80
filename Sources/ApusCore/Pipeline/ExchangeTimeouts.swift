/// How long the parts of one call's exchanges may take, where that is to be other than what its transport does anyway.
///
/// Set with `request.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(120)))`; the limit of the whole
/// call is `timeout`, that of an attempt `attemptTimeout`. A call that passes one fails with the code `timeout` and the
/// phase it was in. Each is `nil` by default: the transport's own limit. One that is not positive is passed at once.
///
/// `NIOTransport` keeps them without a task. `URLSessionTransport` has no such limits and keeps none of them.
public struct ExchangeTimeouts: ContextKey, Sendable, Hashable {
  /// The transport's own.
  public static let defaultValue = ExchangeTimeouts()

  /// How long it may take until the exchange has a connection: waiting for one that others use included, which a
  /// transport's own limit on connecting does not count. The phase is `connecting`, and nothing was sent.
  public var connection: Duration?
  /// How long the head of the answer may take from the moment the request has left. The phase is `awaitingHead`.
  public var firstByte: Duration?
  /// How long no byte may move while content is on its way, in either direction. The phase is `connecting` for content
  /// that is sent, `receiving` for that of the answer.
  public var stall: Duration?

  /// Makes limits; those left out are the transport's own.
  public init(connection: Duration? = nil, firstByte: Duration? = nil, stall: Duration? = nil) {
    self.connection = connection
    self.firstByte = firstByte
    self.stall = stall
  }
}
