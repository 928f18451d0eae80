public import ApusCore
import HTTPTypes
import Synchronization

/// Puts credentials on messages, anew for every attempt, and notices when a server does not accept them.
///
/// The source is asked just before the message leaves, so a new token is used at once and a cleared one never
/// again. However many calls are refused with the same credentials, there is one ``SessionEnd``.
public final class Credentials: Middleware {
  private struct Report {
    /// Kept, so that its source's identity is not given to another while it stands here.
    let authentication: Authentication
    var generation: UInt64
  }

  /// Sources come and go with environments; one that was forgotten may be told of again.
  private static let limit = 64

  private let onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  /// The last generation that was told of, for each source.
  private let reports = Mutex<[SourceIdentity: Report]>([:])

  /// Makes the middleware.
  ///
  /// - Parameter onSessionEnd: told once of each session that is over, see the table of ``SessionEnd``. It is told before
  ///   the calls get their errors, which they do all the same; be quick. Default: nobody.
  public init(onSessionEnd: (@Sendable (SessionEnd) -> Void)? = nil) {
    self.onSessionEnd = onSessionEnd
  }

  /// Adds the environment's credentials where they belong; a refused message is sent again where the credentials were
  /// refreshed, or the server has asked for others.
  ///
  /// A call is bound to the accounts that are signed in when it begins. It ends with ``PrincipalChanged`` where one of them
  /// is signed out, or another one signed in, before it is sent or sent again; while its answer is streamed, that ends the
  /// stream. A call that began signed out stays without credentials.
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
    let context = Self.judging(context)
    let message = try await exchange.message()
    let response = try await next(message, context: context)
    guard response.head.status == .unauthorized else {
      exchange.settle(response)
      if context.delivery == .streamed { await exchange.watch(response) }
      return response
    }
    return try await again(exchange, after: response, context, next)
  }

  /// Refusals are looked at here before their content is waited for.
  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private static func judging(_ context: CallContext) -> CallContext {
    var context = context
    context.answersChallenges = true
    return context
  }

  @inline(never)  // A call that is not refused makes no room for what this needs.
  private func again(
    _ refused: AuthenticatedExchange, after refusal: ResponseMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (exchange, response) = (refused, refusal)
    while response.head.status == .unauthorized {
      switch try await exchange.next(after: response) {
      case .end(let refusal): return try await collected(refusal, context)
      case .send(let message): response = try await next(message, context: context)
      }
    }
    exchange.accepted(response)
    if context.delivery == .streamed { await exchange.watch(response) }
    return response
  }

  /// A refusal that is the call's answer after all, with its content as the call wants it.
  private func collected(_ refusal: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    guard context.delivery == .buffered, refusal.content.bytes == nil else { return refusal }
    let data = try await refusal.content.collect(upTo: context.contentLimit) { context.received($0) }
    context.record(.contentArrived(length: Int64(data.count)))
    return ResponseMessage(head: refusal.head, content: ResponseContent(data, trailers: refusal.content.trailers))
  }

  // MARK: Events

  /// Whether anybody is told.
  var tellsOfEnds: Bool { onSessionEnd != nil }

  /// Tells that a server does not take credentials, or wants some, unless they were replaced meanwhile: an answer may be
  /// late.
  ///
  /// - Parameter current: the generation there is by now; `nil`: nobody knows.
  func report(_ subject: RefreshSubject, current: UInt64?) {
    if let current, current != subject.generation { return }
    let reason = subject.authentication.parts.reasonForNone(subject.stored)
    subject.context.record(.note(reason.note, Int64(clamping: subject.generation)))
    switch reason {
    case .neverSignedIn: return
    case .refused, .expired: announce(subject.end(reason), upTo: subject.generation, of: subject.authentication)
    case .signedOut:
      // Once of each session, however often nothing is replaced by nothing.
      let session = subject.authentication.parts.lastGeneration
      announce(subject.end(reason, session), upTo: subject.generation, of: subject.authentication)
    }
  }

  /// Tells that somebody has signed out.
  ///
  /// - Parameters:
  ///   - generation: that of the credentials there were.
  ///   - next: the generation there is since.
  func signedOut(_ authentication: Authentication, _ environment: Environment, _ generation: UInt64, next: UInt64) {
    guard let origin = environment.baseURL.origin else { return }
    let end = SessionEnd(
      reason: .signedOut, origin: origin, environment: environment.name, scheme: authentication.parts.scheme.name,
      call: nil, generation: generation)
    announce(end, upTo: next, of: authentication)
  }

  /// Tells of a generation once.
  ///
  /// - Parameter last: the generation up to which this is all there is to say.
  func announce(_ end: SessionEnd?, upTo last: UInt64, of authentication: Authentication) {
    guard let onSessionEnd, let end else { return }
    let identity = SourceIdentity(authentication)
    let isNew = reports.withLock { reports in
      let told = reports[identity]?.generation
      if told == nil, reports.count >= Self.limit { reports.remove(at: reports.startIndex) }
      reports[identity] = Report(authentication: authentication, generation: max(last, told ?? last))
      return told.map { $0 < end.generation } ?? true
    }
    if isNew { onSessionEnd(end) }
  }
}
