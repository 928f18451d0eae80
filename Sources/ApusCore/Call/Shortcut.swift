/// A middleware that handles most calls before and after the rest of the pipeline, without a frame of its own.
///
/// A frame between a call and its exchange costs more than what a cache does for a response that it does not store.
package protocol ShortcutMiddleware: ConditionalMiddleware, AnyObject {
  /// Begins a call that has to pass no other middleware before this one, so that its message is as built from the
  /// request.
  func begin(_ request: RequestMessage, _ context: CallContext) -> Shortcut

  /// Called for every response, unless ``begin(_:_:)`` has returned it. It must be quick.
  ///
  /// - Parameters:
  ///   - number: the number of a call that has skipped the middleware. `nil`: the call was not asked, has passed the
  ///     middleware, or was not for this one.
  /// - Returns: whether the response is the result. `false`: ``finish(_:to:_:_:)`` is called.
  func end(_ number: UInt64?, _ response: ResponseMessage, _ context: CallContext) -> Bool

  /// Ends a call that has skipped the middleware and failed.
  func fail(_ number: UInt64)

  /// Handles a response for which ``end(_:_:_:)`` has returned `false`.
  ///
  /// - Returns: the result of the call.
  func finish(
    _ response: ResponseMessage, to request: RequestMessage, _ context: CallContext, _ skip: Skip
  ) async throws -> ResponseMessage
}

/// How a call continues after a ``ShortcutMiddleware``.
package enum Shortcut: Sendable {
  /// The call passes the middleware.
  case pass
  /// The call skips the middleware, which gets the number back at the end of the call.
  case skip(UInt64)
  /// The middleware has the result.
  case response(ResponseMessage)
}

/// How a call has skipped a ``ShortcutMiddleware``.
package struct Skip: Sendable {
  /// The number of ``Shortcut/skip(_:)``; `nil` if the call was not asked, or was not for the middleware.
  package let number: UInt64?
  /// The rest of the pipeline.
  package let next: Next
}
