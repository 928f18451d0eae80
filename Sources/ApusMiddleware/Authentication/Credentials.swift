public import ApusCore
import HTTPTypes
import Synchronization

/// Puts credentials on messages, anew for every attempt, and notices when a server does not accept them.
///
/// The source is asked just before the message leaves, so a new token is used at once and a cleared one never
/// again. However many calls are refused with the same credentials, there is one event.
public final class Credentials: Middleware {
  private struct Report {
    /// Kept, so that its identity is not given to another while it stands here.
    let identity: Authentication.Identity
    var generation: UInt64
  }

  private let onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)?
  /// The last generation that was told of, for each authentication.
  private let reports = Mutex<[ObjectIdentifier: Report]>([:])

  /// Makes the middleware.
  ///
  /// - Parameter onUnauthorized: told once for each generation of credentials (signed out counts as one) that a
  ///   server refuses with 401, unless they have been replaced meanwhile. It is told before the calls get their
  ///   errors, which they do all the same; be quick. Default: nobody.
  public init(onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)? = nil) {
    self.onUnauthorized = onUnauthorized
  }

  /// Adds the environment's credentials where they belong.
  ///
  /// - Throws: ``TransportError``, which becomes `invalidRequest`, when the credentials cannot be read or sent.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let authentication = authentication(for: request, context) else {
      return try await next(request, context: context)
    }
    return try await authenticated(by: authentication, request, context: context, next: next)
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func authentication(for request: RequestMessage, _ context: CallContext) -> Authentication? {
    guard let authentication = context.environment.authentication,
      context.values[CredentialUseKey.self] == .automatic,
      authentication.allows(request.origin, in: context.environment),
      // What a server thinks of a call's own credentials says nothing about the source's.
      !authentication.isAnticipated(by: request)
    else { return nil }
    return authentication
  }

  @inline(never)  // As above, where there is nothing to add.
  private func authenticated(
    by authentication: Authentication, _ request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    var request = request
    let stored = try await authentication.read()
    if let credential = stored.credential {
      try authentication.apply(credential, to: &request)
      context.record(.authorized(generation: stored.generation))
    }
    let response = try await next(request, context: context)
    if response.head.status == .unauthorized, let origin = request.origin {
      context.record(.unauthorized(generation: stored.generation))
      await report(stored.generation, of: authentication, at: origin, context)
    }
    return response
  }

  private func report(
    _ generation: UInt64, of authentication: Authentication, at origin: Origin, _ context: CallContext
  ) async {
    guard let onUnauthorized else { return }
    // An answer may be late: of credentials that were replaced meanwhile nobody needs to hear.
    if let current = try? await authentication.source.current(), current.generation != generation { return }
    let identity = authentication.identity
    let isNew = reports.withLock { reports in
      if let last = reports[ObjectIdentifier(identity)], last.generation >= generation { return false }
      reports[ObjectIdentifier(identity)] = Report(identity: identity, generation: generation)
      return true
    }
    guard isNew else { return }
    onUnauthorized(
      UnauthorizedEvent(
        origin: origin, environment: context.environment.name, call: context.id, generation: generation))
  }
}
