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
/// A limit that a call sets (`.attemptTimeout(…)`) applies to each of its attempts. The default reserves time for a
/// retry, so it applies only if there may be one:
///
/// | attempt | default limit |
/// |---|---|
/// | another attempt may follow: policy, request and content allow it | applies |
/// | an earlier attempt timed out waiting for the response head | none: all the remaining time |
/// | no attempt may follow, such as a POST without a key, or the last attempt | none |
/// | the call sets a `timeout` of more than 30 seconds, or `nil` | none |
/// | the call sets ``ApusCore/ExchangeTimeouts/firstByte`` | none |
/// | more than ``longContent`` bytes are sent, or an unknown number | none |
public struct AttemptDeadline: Middleware {
  /// The most bytes of content that are expected to be sent within the default. 1 MiB.
  public static let longContent: Int64 = 1 << 20

  /// Calls that may take longer than this expect a slow answer.
  private static let longCall = Duration.seconds(30)

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
    guard let limit = limit(for: request, context) else { return try await next(request, context: context) }
    do {
      return try await next(request, context: limited(context, to: limit))
    } catch {
      throw named(error, limit)
    }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func limited(_ context: CallContext, to limit: Duration) throws -> CallContext {
    guard limit > .zero else { throw Self.timeout }
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return context
  }

  @inline(never)  // As above.
  private func limit(for request: RequestMessage, _ context: CallContext) -> Duration? {
    guard context.delivery != .described else { return nil }
    switch context.values[AttemptTimeoutKey.self] {
    case .limited(let limit): return limit
    case .unlimited: return nil
    case .standard:
      guard context.leavesTimeForRetry, context.call.timeout ?? .zero <= Self.longCall,
        let length = request.content.length, length <= Self.longContent,
        context.values[ExchangeTimeouts.self].firstByte == nil
      else { return nil }
      return standard
    }
  }

  // MARK: Errors

  private static let timeout = TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)

  /// Whoever obeys the limit knows the instant alone: the error says which limit it was and how to change it.
  @inline(never)
  private func named(_ error: any Error, _ limit: Duration) -> any Error {
    guard var error = error as? TransportError, error.detail.hasPrefix(Self.timeout.detail) else { return error }
    let limit = Fact.time("attempt limit of", limit)
    let more = error.detail.dropFirst(Self.timeout.detail.count)
    error.detail = "no response within the \(limit); change it with .attemptTimeout(_:)\(more)"
    return error
  }
}
