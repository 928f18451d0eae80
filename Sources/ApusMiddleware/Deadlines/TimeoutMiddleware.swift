public import ApusCore

/// A middleware that sets the deadline of a whole call.
///
/// | call | limit |
/// |---|---|
/// | sets a `timeout` | that timeout; it covers everything, including content |
/// | sets `.timeout(nil)` | none |
/// | sets none | the default; time during which content is transferred does not count |
/// | sets none, and streams its response | the default, up to the response head |
///
/// While content is transferred under the default, the call ends after 20 seconds without a byte, or below 1 KiB/s over
/// 60 seconds (``ExchangeTimeouts/stall``). An inherited deadline (``withDeadline(_:on:_:)``) covers everything and
/// applies if it is earlier. Neither limit needs a task.
package struct TimeoutMiddleware: ContextMiddleware {
  let defaultTimeout: Duration?

  /// Creates the middleware.
  ///
  /// - Parameter defaultTimeout: the timeout of calls that set no timeout; `nil` means no timeout. Default: 30 seconds.
  package init(default defaultTimeout: Duration? = .seconds(30)) {
    self.defaultTimeout = defaultTimeout
  }

  /// Sets the deadline.
  ///
  /// - Throws: ``TransportError`` with the code `timeout` if no time is left; nothing is sent.
  package func prepare(_ context: inout CallContext) throws {
    if let own = context.timeout {
      guard own > .zero else { throw Self.noTime(own) }
      context.limit(to: context.call.startInstant.advanced(by: own))
    } else if let defaultTimeout, context.delivery != .described {
      guard defaultTimeout > .zero else { throw Self.noTime(defaultTimeout) }
      context.limitExcludingTransfer(defaultTimeout)
    }
  }

  private static func noTime(_ limit: Duration) -> TransportError {
    let limit = Fact.time("a limit of", limit)
    return TransportError(
      .timeout, in: .waiting, requestState: .notSent, detail: "\(limit) leaves no time; change it with .timeout(_:)")
  }
}

extension TimeoutMiddleware: SelfDescribing {
  /// The default timeout for `describe()`.
  package var facts: [Fact] {
    guard defaultTimeout != nil else { return [.totalLimit(nil)] }
    return [.totalLimit(defaultTimeout), .setting("paused while content is transferred", "")]
  }
}

/// A middleware that limits the time of each attempt to its response head, so that a server that does not respond
/// leaves time for a retry.
///
/// It is inside scheduling, so that the wait for a permit does not count, and outside everything that belongs to the
/// attempt: the wait for the rate limit, a token refresh, redirects, connecting, sending and the server's work count.
/// An attempt that exceeds the limit fails with a ``TransportError`` that has its phase and request state; the app gets
/// the code `timeout` if there is no retry. If the limit passes before anything was sent, for example during a token
/// refresh, another attempt follows, because the refresh continues and may succeed meanwhile. An earlier deadline of
/// the call ends the call instead. The limit needs no task (see ``CallContext/limitAttempt(to:)``).
///
/// A limit that a call sets (`.attemptTimeout(…)`) applies to each of its attempts. The default reserves time for a
/// retry, so it applies only if a retry is possible:
///
/// | attempt | default limit |
/// |---|---|
/// | another attempt may follow: policy, request and content allow it | applies |
/// | an earlier attempt timed out waiting for the response head | none: all the remaining time |
/// | no attempt may follow, such as a POST without a key, or the last attempt | none |
/// | the call sets a `timeout` of more than 30 seconds, or `nil` | none |
/// | the call sets ``ExchangeTimeouts/firstByte`` | none |
/// | more than 1 MiB of content is sent, or an unknown length | none |
package struct AttemptTimeoutMiddleware: Middleware {
  /// The maximum number of bytes of content for which the default limit applies: 1 MiB.
  static let longContent: Int64 = 1 << 20

  /// Calls with a longer timeout expect a slow response.
  private static let longCall = Duration.seconds(30)

  let defaultTimeout: Duration?

  /// Creates the middleware.
  ///
  /// - Parameter defaultTimeout: the timeout of attempts of calls that set none (`.attemptTimeout(…)`); `nil` means no
  ///   timeout. Default: 10 seconds.
  package init(default defaultTimeout: Duration? = .seconds(10)) {
    self.defaultTimeout = defaultTimeout
  }

  /// Sets the deadline and passes the request on.
  ///
  /// - Throws: ``TransportError`` with the code `timeout` if no time is left; nothing is sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let limit = limit(for: request, context) else { return try await next(request, context: context) }
    do {
      return try await next(request, context: limited(context, to: limit))
    } catch {
      throw named(error, limit)
    }
  }

  @inline(never)
  private func limited(_ context: CallContext, to limit: Duration) throws -> CallContext {
    guard limit > .zero else { throw Self.timeout }
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return context
  }

  private func limit(for request: RequestMessage, _ context: CallContext) -> Duration? {
    guard context.delivery != .described else { return nil }
    switch context.values[AttemptTimeoutKey.self] {
    case .limited(let limit): return limit
    case .unlimited: return nil
    case .clientDefault:
      guard context.leavesTimeForRetry, context.timeout ?? .zero <= Self.longCall,
        let length = request.content.length, length <= Self.longContent,
        context.values[ExchangeTimeouts.self].firstByte == nil
      else { return nil }
      return defaultTimeout
    }
  }

  // MARK: Errors

  private static let timeout = TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)

  // Adds the limit and how to change it to the error's detail, because inner layers know only the instant.
  private func named(_ error: any Error, _ limit: Duration) -> any Error {
    guard var error = error as? TransportError, error.detail.hasPrefix(Self.timeout.detail) else { return error }
    let limit = Fact.time("attempt limit of", limit)
    let more = error.detail.dropFirst(Self.timeout.detail.count)
    error.detail = "no response within the \(limit); change it with .attemptTimeout(_:)\(more)"
    return error
  }
}

extension AttemptTimeoutMiddleware: SelfDescribing {
  /// The default timeout for `describe()`.
  package var facts: [Fact] { [.attemptLimit(defaultTimeout)] }
}

enum AttemptTimeoutKey: ContextKey {
  enum Limit: Sendable, Hashable {
    case clientDefault
    case unlimited
    case limited(Duration)
  }

  /// `clientDefault`: the client's limit.
  static let defaultValue = Limit.clientDefault
}

extension Endpoint {
  /// Limits the time of each attempt of calls of this endpoint, up to the response head. The limit of the whole call is
  /// `timeout`.
  ///
  /// Unlike the client's default, the limit applies to every attempt, including the last attempt.
  ///
  /// - Parameter limit: the maximum time after the attempt is admitted; if not positive, nothing is sent. `nil`: no
  ///   limit.
  public func attemptTimeout(_ limit: Duration?) -> Request<Value> {
    setting(AttemptTimeoutKey.self, limit.map(AttemptTimeoutKey.Limit.limited) ?? .unlimited)
  }
}
