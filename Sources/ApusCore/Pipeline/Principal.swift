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

/// Binds calls to their principals. Calls in environments without a ``PrincipalKey`` do not pass it.
struct PrincipalBinding: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: bound(request, context))
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func bound(_ request: RequestMessage, _ context: CallContext) async throws -> CallContext {
    guard let bind = context.environment.values[PrincipalKey.self] else { return context }
    var context = context
    if let principal = try await bind(request, &context) { context.values[BoundPrincipalKey.self] = principal }
    return context
  }
}
