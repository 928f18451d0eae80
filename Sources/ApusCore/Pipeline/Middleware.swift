/// Wraps everything between the app's call and the transport.
///
/// A middleware may change the request, answer without calling `next`, call `next` again (retry) or
/// change the response. It discards every response that it does not return. It is shared by all calls of
/// a client and keeps what belongs to one call in that call's context.
public protocol Middleware: Sendable {
  /// Handles one pass of a call.
  ///
  /// - Parameters:
  ///   - request: the message as the outer middlewares left it.
  ///   - context: the call it belongs to.
  ///   - next: the rest of the pipeline.
  /// - Throws: what `next` throws, or an error of its own, which reaches the app as a ``CallError``.
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage
}
