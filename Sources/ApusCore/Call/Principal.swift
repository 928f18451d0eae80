import Synchronization

/// The setting of an environment that binds each call to the account whose credentials the call uses.
///
/// ``PrincipalBinding`` calls the closure once for each call, before any middleware queues, shares or repeats the
/// call. The closure stores the data that identifies the account in `context.values`, under keys that do not affect
/// coalescing, and returns a number for the account. Different numbers mean different accounts, or different sessions
/// of one account. `nil` means that the call uses no credentials.
///
/// Middlewares that share or store responses compare ``CallContext/principal``. The middleware that adds credentials
/// compares the stored account with the current account each time, so that a call is never sent with the credentials
/// of another account.
package enum CallBinderKey: ContextKey {
  /// A closure that binds a call, given the message with which the call enters the pipeline.
  package typealias Binder =
    @Sendable (_ request: RequestMessage, _ context: inout CallContext) async throws -> UInt64?

  /// Default: `nil`. Without credentials all calls belong to one principal.
  package static let defaultValue: Binder? = nil

  /// The principal of a call whose account cannot be determined, because its credentials cannot be read. Such a call is
  /// sent without credentials, or fails if it needs credentials.
  package static let unreadable = UInt64.max
}

extension CallContext {
  /// The principal of the call: a number for the account or session whose credentials the call uses. `nil` if the
  /// call uses no credentials or is not bound yet.
  public var principal: UInt64? { values[PrincipalNumberKey.self] }
}

/// The number of a call's principal. Coalescing compares ``CallContext/principal`` separately.
private enum PrincipalNumberKey: ContextKey {
  static let defaultValue: UInt64? = nil
  static let affectsCoalescing = false
}

/// The number of the cookie jar when the call began. Calls with different numbers belong to different sessions: they
/// share neither exchanges nor stored responses. Default: 0, no jar. Coalescing compares it separately.
package enum CookieJarNumberKey: ContextKey {
  /// No jar.
  package static let defaultValue: UInt64 = 0
  package static let affectsCoalescing = false
}

/// A middleware that binds each call to its principal, the account whose credentials the call uses, before other
/// middlewares queue, share or repeat the call.
///
/// Insert it in the slot ``Slot/principal``. Calls in environments without credentials skip it.
package struct PrincipalBinding: ConditionalMiddleware {
  /// Creates the middleware.
  package init() {}

  package var audience: MiddlewareAudience { .callsWithPrincipal }

  /// Binds the call to its principal and passes it on.
  ///
  /// - Throws: the error of the binding or of `next`.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: bound(request, context))
  }

  private func bound(_ request: RequestMessage, _ context: CallContext) async throws -> CallContext {
    guard let bind = context.environment.values[CallBinderKey.self] else { return context }
    var context = context
    let principal = try await bind(request, &context)
    try context.values[CommonPrincipalKey.self]?.check(principal)
    if let principal { context.values[PrincipalNumberKey.self] = principal }
    return context
  }
}

/// The principal that several calls must have in common, because they are parts of one operation.
package final class CommonPrincipal: Sendable {
  private enum State {
    case unknown
    case known(UInt64?)
  }

  private let state = Mutex(State.unknown)

  /// Creates a common principal. The first call whose account is known determines it.
  package init() {}

  /// Stores the principal of the first call whose account is known.
  ///
  /// - Throws: ``CallFault`` if a later call has another principal.
  func check(_ principal: UInt64?) throws {
    if principal == CallBinderKey.unreadable { return }
    let isSame = state.withLock { state in
      if case .known(let first) = state { return first == principal }
      state = .known(principal)
      return true
    }
    guard isSame else { throw CallFault(.refused, "the account has changed since the first call of the operation") }
  }
}

/// The principal that this call must have in common with earlier calls. Default: `nil`, any principal.
package enum CommonPrincipalKey: ContextKey {
  package static let defaultValue: CommonPrincipal? = nil
  package static let affectsCoalescing = false
}
