public import ApusCore

/// Limits each attempt of a call up to the head of its answer, so that a server that does not answer leaves time to try
/// again.
///
/// It stands inside of scheduling, so that waiting for a permit does not count, and outside of all that belongs to the
/// attempt: its turn by the rate limit, a refresh, redirects, getting a connection, sending and the server's work do.
/// Whatever passes it throws a ``ApusCore/TransportError`` with the phase the attempt was in and whether the request
/// had left, which the app gets with the code `timeout` where nothing tries again. Where the call's own deadline is
/// nearer, that one ends the call. It costs no task (see ``ApusCore/CallContext/limitAttempt(to:)``).
///
/// How long some calls take is not known beforehand. The default does not hold for requests with more than
/// ``longContent`` bytes of content or an unknown length, nor for those that say themselves how long the head may take
/// (``ApusCore/ExchangeTimeouts/firstByte``). An attempt limit of their own does.
public struct AttemptDeadline: Middleware {
  /// The most bytes of content that are expected to be sent within the default. 1 MiB.
  public static let longContent: Int64 = 1 << 20

  let standard: Duration?

  /// Makes the deadline.
  ///
  /// - Parameter standard: the limit of attempts of calls that set none (`.attemptTimeout(…)`); `nil`: no limit.
  ///   Default: 10 seconds.
  public init(standard: Duration? = .seconds(10)) {
    self.standard = standard
  }

  /// Sets the deadline and passes the message on.
  ///
  /// - Throws: ``ApusCore/TransportError``, which becomes `timeout`, when there is no time at all: nothing is sent
  ///   then.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: limited(context, request))
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func limited(_ context: CallContext, _ request: RequestMessage) throws -> CallContext {
    guard context.delivery != .described, let limit = time(for: request, context) else { return context }
    guard limit > .zero else { throw TransportError.attemptTimedOut(in: .waiting, requestState: .notSent) }
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return context
  }

  private func time(for request: RequestMessage, _ context: CallContext) -> Duration? {
    switch context.values[AttemptTimeoutKey.self] {
    case .limited(let limit): return limit
    case .unlimited: return nil
    case .standard:
      guard let length = request.content.length, length <= Self.longContent,
        context.values[ExchangeTimeouts.self].firstByte == nil
      else { return nil }
      return standard
    }
  }
}
