public import ApusCore
import HTTPTypes
import Synchronization

/// Puts credentials on messages, anew for every attempt, and notices when a server does not accept them.
///
/// The source is asked just before the message leaves, so a new token is used at once and a cleared one never
/// again. However many calls are refused with the same credentials, there is one event.
public final class Credentials: Middleware {
  private struct Report {
    /// Kept, so that its source's identity is not given to another while it stands here.
    let authentication: Authentication
    var generation: UInt64
  }

  /// Sources come and go with environments; one that was forgotten may be told of again.
  private static let limit = 64

  private let onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)?
  /// The last generation that was told of, for each source.
  private let reports = Mutex<[SourceIdentity: Report]>([:])

  /// Makes the middleware.
  ///
  /// - Parameter onUnauthorized: told once for each generation of credentials (signed out counts as one) that a
  ///   server refuses with 401, unless they have been replaced meanwhile. It is told before the calls get their
  ///   errors, which they do all the same; be quick. Default: nobody.
  public init(onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)? = nil) {
    self.onUnauthorized = onUnauthorized
  }

  /// Adds the environment's credentials where they belong; a refused message is sent again where the credentials were
  /// refreshed, or the server has asked for others.
  ///
  /// - Throws: ``TransportError``, which becomes `invalidRequest`, when the credentials cannot be read or sent, or the
  ///   message would have to be sent again and can be sent once only, and `declined` when the call needs credentials
  ///   and there are none; what a refresh failed with.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard concerns(context) else { return try await next(request, context: context) }
    return try await first(request, context, next)
  }

  private func concerns(_ context: CallContext) -> Bool {
    switch context.values[CredentialUseKey.self] {
    case .none: false
    case .required: true
    case .optional: !context.environment.authentications.isEmpty
    }
  }

  @inline(never)  // A call without credentials makes no room for what this needs.
  private func first(
    _ request: RequestMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    guard var exchange = try AuthenticatedExchange(request, context, self) else {
      return try await next(request, context: context)
    }
    let message = try await exchange.message()
    let response = try await next(message, context: context)
    guard response.head.status == .unauthorized else { return response }
    return try await again(exchange, after: response, context, next)
  }

  @inline(never)  // A call that is not refused makes no room for what this needs.
  private func again(
    _ refused: AuthenticatedExchange, after refusal: ResponseMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (exchange, response) = (refused, refusal)
    while response.head.status == .unauthorized {
      switch try await exchange.next(after: response) {
      case .end(let refusal): return refusal
      case .send(let message): response = try await next(message, context: context)
      }
    }
    exchange.accepted()
    return response
  }

  // MARK: Events

  /// Whether anybody is told.
  var tellsOfRefusals: Bool { onUnauthorized != nil }

  /// Tells that a server does not take credentials, unless they were replaced meanwhile: an answer may be late.
  func report(_ subject: RefreshSubject) async {
    guard onUnauthorized != nil else { return }
    let current = try? await subject.authentication.parts.source.current()
    if let current, current.generation != subject.generation { return }
    announce(subject.generation, upTo: subject.generation, of: subject)
  }

  /// Tells of a generation once.
  ///
  /// - Parameter last: the generation up to which this is all there is to say.
  func announce(_ generation: UInt64, upTo last: UInt64, of subject: RefreshSubject) {
    guard let onUnauthorized, let origin = subject.origin else { return }
    let authentication = subject.authentication
    let identity = SourceIdentity(authentication)
    let isNew = reports.withLock { reports in
      let told = reports[identity]?.generation
      if told == nil, reports.count >= Self.limit { reports.remove(at: reports.startIndex) }
      reports[identity] = Report(authentication: authentication, generation: max(last, told ?? last))
      return told.map { $0 < generation } ?? true
    }
    guard isNew else { return }
    onUnauthorized(
      UnauthorizedEvent(
        origin: origin, environment: subject.context.environment.name, call: subject.context.id,
        generation: generation))
  }
}
