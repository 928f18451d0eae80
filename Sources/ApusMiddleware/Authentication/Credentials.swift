public import ApusCore
import HTTPTypes
import Synchronization

/// Puts credentials on messages, anew for every attempt, and notices when a server does not accept them.
///
/// The source is asked just before the message leaves, so a new token is used at once and a cleared one
/// never again. Many calls that are refused with the same credentials make one event.
public final class Credentials: Middleware {
  private let onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)?
  /// For each origin the last generation that was reported; 0 stands for none, others count from 1.
  private let reported = Mutex<[Origin: UInt64]>([:])

  /// Makes the middleware.
  ///
  /// - Parameter onUnauthorized: told once for each set of credentials that a server refuses with 401,
  ///   and once while there are none; the calls get their error all the same.
  public init(onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)? = nil) {
    self.onUnauthorized = onUnauthorized
  }

  /// Adds the environment's credentials where they belong.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.values[CredentialUseKey.self] != .none, let authentication = context.environment.authentication,
      authentication.allows(request.origin, in: context.environment)
    else { return try await next(request, context: context) }
    var request = request
    let stored = try await authentication.source.credential()
    if let stored {
      try authentication.apply(stored.credential, to: &request)
      context.record(.authorized(generation: stored.generation))
    }
    let response = try await next(request, context: context)
    if response.head.status == .unauthorized {
      context.record(.unauthorized(generation: stored?.generation ?? 0))
      if let origin = request.origin { report(origin, generation: stored?.generation, context) }
    }
    return response
  }

  private func report(_ origin: Origin, generation: UInt64?, _ context: CallContext) {
    let mark = generation.map { $0 + 1 } ?? 0
    let isNew = reported.withLock { $0.updateValue(mark, forKey: origin) != mark }
    guard isNew, context.delivery != .described else { return }
    onUnauthorized?(UnauthorizedEvent(origin: origin, environment: context.environment.name, call: context.id))
  }
}
