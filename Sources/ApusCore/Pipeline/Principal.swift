/// The environment's way to bind a call to the account whose credentials it uses.
///
/// The client calls the closure once for each call, inside the total deadline and before anything else waits, shares or
/// repeats the call. The closure keeps what it needs to recognise the account in `context.values`, under keys that do
/// not tell calls apart, and returns a number for it. The number means nothing but that different numbers are different
/// accounts, or different sessions of one account; `nil`: the call uses no credentials.
///
/// Everything that shares or stores responses compares ``CallContext/principal``. Whatever shows credentials compares
/// what was kept with the present account each time, so that a call never goes out as another account. Set by whatever
/// authenticates.
public enum PrincipalKey: ContextKey {
  /// Binds a call, given the message it begins with.
  public typealias Binding = @Sendable (_ request: RequestMessage, _ context: inout CallContext) async throws -> UInt64?

  /// Default: `nil`. Without credentials all calls belong to one principal.
  public static let defaultValue: Binding? = nil
}

extension CallContext {
  /// The principal that the call is bound to, see ``PrincipalKey``; `nil`: it uses no credentials, or it is not bound yet.
  public var principal: UInt64? { values[BoundPrincipalKey.self] }
}

/// The principal of a call, which a key of shared exchanges holds by itself.
private enum BoundPrincipalKey: ContextKey {
  static let defaultValue: UInt64? = nil
  static let tellsCallsApart = false
}

/// Binds each call to its principal (``PrincipalKey``), before anything waits, shares or repeats the call.
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
