/// The environment's way to bind a call to the account whose credentials it uses.
///
/// ``PrincipalBinding`` calls the closure once for each call, before anything waits, shares or repeats the call. The closure
/// keeps what it needs to recognise the account in `context.values`, under keys that do not affect coalescing, and returns a
/// number for the account. Different numbers are different accounts, or different sessions of one account; `nil`: the call
/// uses no credentials.
///
/// Middlewares that share or store responses compare ``CallContext/principal``. The middleware that adds credentials compares
/// the kept account with the present one each time, so that a call is never sent as another account.
package enum PrincipalKey: ContextKey {
  /// Binds a call, given the message that it enters the pipeline with.
  package typealias Binding =
    @Sendable (_ request: RequestMessage, _ context: inout CallContext) async throws -> UInt64?

  /// Default: `nil`. Without credentials all calls belong to one principal.
  package static let defaultValue: Binding? = nil
}

extension CallContext {
  /// The principal that the call is bound to: a number for the account, or the session, whose credentials it uses; `nil`: the call uses no credentials, or is not bound yet.
  public var principal: UInt64? { values[BoundPrincipalKey.self] }
}

/// The principal of a call. Coalescing compares it by itself.
private enum BoundPrincipalKey: ContextKey {
  static let defaultValue: UInt64? = nil
  static let tellsCallsApart = false
}

/// Binds each call to its principal, the account whose credentials it uses, before anything waits, shares or repeats the call.
///
/// It belongs in the slot ``Slot/principal``. Calls in environments without credentials skip it.
public struct PrincipalBinding: ConditionalMiddleware {
  /// Makes the middleware.
  public init() {}

  func isNeeded(for context: CallContext) -> Bool {
    context.environment.values.contains(PrincipalKey.self)
  }

  /// Passes the call on with the principal it is bound to.
  ///
  /// - Throws: what the binding throws.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: bound(request, context))
  }

  @inline(never)  // Its temporaries would be kept for as long as the call waits.
  private func bound(_ request: RequestMessage, _ context: CallContext) async throws -> CallContext {
    guard let bind = context.environment.values[PrincipalKey.self] else { return context }
    var context = context
    if let principal = try await bind(request, &context) { context.values[BoundPrincipalKey.self] = principal }
    return context
  }
}
