/// A step of the pipeline between a call and the transport.
///
/// A middleware may change the request, return a response without calling `next`, call `next` again (retry) or change
/// the response. It must discard every response that it does not return. All calls of a client share its middlewares,
/// so the state of a single call belongs in the context of that call. A middleware must not block its thread, because
/// the thread may serve connections.
public protocol Middleware: Sendable {
  /// Handles one pass of a call through the pipeline.
  ///
  /// - Parameters:
  ///   - request: the message, as changed by the outer middlewares.
  ///   - context: the context of the call.
  ///   - next: the rest of the pipeline.
  /// - Throws: the error of `next`, or another error. It reaches the app as a ``CallError``.
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage

  /// A line with the settings of the middleware, which `Client.describe()` shows after the name of its type. Never
  /// include a credential, a query value or a field (header) value. Default: empty.
  var summary: String { get }
}

extension Middleware {
  /// An empty text.
  public var summary: String { "" }
}

/// A middleware that some calls skip, at the cost of one check.
package protocol ConditionalMiddleware: Middleware {
  /// The calls that have to pass this middleware.
  var audience: MiddlewareAudience { get }
}

/// The calls that have to pass a middleware. A value, because the check is on the path of every call.
package enum MiddlewareAudience: Sendable {
  case allCalls
  /// The calls in environments with common fields or query parameters.
  case callsWithCommonParameters
  /// The calls in environments that bind calls to a principal.
  case callsWithPrincipal
  /// The calls that may share an exchange.
  case coalescedCalls
  /// The calls for which the function returns `true`. It is called for every call, so it must be quick.
  case callsThat(@Sendable (CallContext) -> Bool)
}

/// A middleware that only changes the context of a call. At the beginning of a pipeline it needs no frame of its own.
package protocol ContextMiddleware: Middleware {
  /// Changes the context of a pass through the pipeline.
  func prepare(_ context: inout CallContext) throws
}

extension ContextMiddleware {
  /// Changes the context and passes the request on.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    try prepare(&context)
    return try await next(request, context: context)
  }
}
