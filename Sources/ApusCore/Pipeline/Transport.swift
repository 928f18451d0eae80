/// Sends one request message and returns its final response: one exchange.
///
/// A transport returns for every status and judges none. It follows no redirect, keeps no cookies, no
/// cache and no credentials. When the calling task is cancelled it closes the exchange and throws
/// `CancellationError` without delay. Every other failure is a ``TransportError`` that says whether the
/// request was sent. Content it returns may still arrive; nobody but the transport touches the connection.
///
/// The deadline of a call cancels its task. That of the attempt (``CallContext/attemptDeadline``) does not: a
/// transport looks at its clock, or has itself told (``CallContext/alarm(for:)``), and when the time is up before the
/// head of the answer is there it closes the exchange and throws
/// ``TransportError/attemptTimedOut(in:requestState:)``. It says nothing of content.
public protocol Transport: Sendable {
  /// Whether it records ``TraceEvent/Kind/connected(reused:)`` before anything of a request is sent, so that a call that
  /// ends earlier is known not to be sent. A transport that does so looks once more, after it has recorded the event and
  /// before it writes, whether the exchange is still wanted. Default: `false`; then every exchange that has begun counts
  /// as maybe sent.
  var reportsConnections: Bool { get }

  /// Performs the exchange and returns once the head of the answer is there.
  ///
  /// Where the context ``CallContext/collects(_:)`` an answer, a transport may collect the content itself and return
  /// with all of it, which saves its caller being woken for every piece
  /// (``ResponseContent/init(collected:trailers:)``).
  ///
  /// - Parameters:
  ///   - request: complete and valid.
  ///   - context: the call it belongs to: deadline, delivery, trace.
  /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled.
  func send(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage
}

extension Transport {
  /// Nothing is said of connections.
  public var reportsConnections: Bool { false }
}
