package import ApusCore

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
/// applies if it is earlier. Neither needs a task.
package struct TimeoutMiddleware: Middleware {
  let defaultTimeout: Duration?

  /// Creates the middleware.
  ///
  /// - Parameter defaultTimeout: the timeout of calls without one; `nil`: none. Default: 30 seconds.
  package init(default defaultTimeout: Duration? = .seconds(30)) {
    self.defaultTimeout = defaultTimeout
  }

  /// Sets the deadline and passes the request on.
  ///
  /// - Throws: ``TransportError`` with the code `timeout` if no time is left; nothing is sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: limited(context))
  }

  @inline(never)
  private func limited(_ context: CallContext) throws -> CallContext {
    var context = context
    if let own = context.timeout {
      guard own > .zero else { throw Self.noTime(own) }
      context.limit(to: context.call.startInstant.advanced(by: own))
    } else if let defaultTimeout, context.delivery != .described {
      guard defaultTimeout > .zero else { throw Self.noTime(defaultTimeout) }
      context.limitExcludingTransfer(defaultTimeout)
    }
    return context
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
