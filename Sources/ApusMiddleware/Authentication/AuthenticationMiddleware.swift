package import ApusCore
import HTTPTypes
import Synchronization

/// A middleware that authenticates calls: it adds the environment's credentials to every attempt, answers challenges,
/// and reports the end of a session.
///
/// The store is read just before a message is sent, so a new token is used immediately and a removed token is never
/// sent again. Any number of calls that are rejected with the same credentials report one ``SessionEnd``.
package final class AuthenticationMiddleware: Middleware {
  private struct Report {
    /// Keeps the store alive, so that its identity is not reused while this entry exists.
    let authentication: Authentication
    var generation: UInt64
  }

  /// The maximum number of stores in `reports`. A store that was dropped may be reported again.
  private static let limit = 64

  private let onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  /// The latest generation that was reported, by store.
  private let reports = Mutex<[SourceIdentity: Report]>([:])

  /// Creates the middleware.
  ///
  /// - Parameter onSessionEnd: called once for each session that ends, see the table of ``SessionEnd``, before the
  ///   calls throw their errors. It must be quick. Default: `nil`.
  package init(onSessionEnd: (@Sendable (SessionEnd) -> Void)? = nil) {
    self.onSessionEnd = onSessionEnd
  }

  /// Adds the environment's credentials, and resends a rejected message if the credentials were refreshed or the server
  /// asked for other credentials.
  ///
  /// A call is bound to the accounts that are signed in when it begins. It ends with ``PrincipalChangedError`` if such
  /// an account signs out, or another account signs in, before the call is sent or resent; during a streamed response,
  /// this ends the stream. A call that began signed out never gets credentials.
  ///
  /// - Throws: ``TransportError``, with the code `invalidRequest` if the credentials cannot be read or sent, or if the
  ///   message must be resent and its content can be sent only once; with `refused` if the call requires credentials
  ///   and there are none. The error of a refresh. The error of a scheme that rejects the response.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard concerns(context) else { return try await next(request, context: context) }
    return try await first(request, context, next)
  }

  private func concerns(_ context: CallContext) -> Bool {
    switch context.values[CredentialsPolicyKey.self] {
    case .none: false
    case .required: true
    case .optional: !context.environment.authentications.isEmpty
    }
  }

  @inline(never)  // Keeps its temporaries out of the frame of a call without credentials.
  private func first(
    _ request: RequestMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    guard var exchange = try AuthenticatedExchange(request, context, self) else {
      return try await next(request, context: context)
    }
    let context = Self.judging(context)
    let message = try await exchange.message()
    let response = try await next(message, context: context)
    try exchange.receive(response, to: message)
    guard response.statusCode == 401 else {
      exchange.settle(response)
      if context.delivery == .streamed { await exchange.watch(response) }
      return response
    }
    return try await again(exchange, after: response, context, next)
  }

  // Rejections are examined here before their content is collected.
  @inline(never)  // Keeps its temporaries out of the frame that lives as long as the call waits.
  private static func judging(_ context: CallContext) -> CallContext {
    var context = context
    context.answersChallenges = true
    return context
  }

  @inline(never)  // Keeps its temporaries out of the frame of a call that is not rejected.
  private func again(
    _ refused: AuthenticatedExchange, after refusal: ResponseMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (exchange, response) = (refused, refusal)
    while response.statusCode == 401 {
      switch try await exchange.next(after: response) {
      case .end(let refusal): return try await collected(refusal, context)
      case .send(let message):
        response = try await next(message, context: context)
        try exchange.receive(response, to: message)
      }
    }
    exchange.accepted(response)
    if context.delivery == .streamed { await exchange.watch(response) }
    return response
  }

  /// The rejection as the call's response, with its content as the call wants it.
  private func collected(_ refusal: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    guard context.delivery == .buffered, refusal.content.bytes == nil else { return refusal }
    let data = try await refusal.content.collect(upTo: context.contentLimit) { context.received($0) }
    context.record(.contentArrived(length: Int64(data.count)))
    return ResponseMessage(head: refusal.head, content: ResponseContent(data, trailers: refusal.content.trailers))
  }

  // MARK: Events

  /// Whether session ends are reported.
  var tellsOfEnds: Bool { onSessionEnd != nil }

  /// Reports that a server rejected credentials or asks for credentials, unless they were replaced in the meantime: a
  /// response may be late.
  ///
  /// - Parameter current: the current generation; `nil`: unknown.
  func report(_ subject: RefreshSubject, of account: AuthenticatedAccount, current: UInt64?) {
    if let current, current != subject.generation { return }
    let reason = account.authentication.parts.reasonForNone(subject.stored)
    subject.context.record(.note(reason.note, Int64(clamping: subject.generation)))
    switch reason {
    case .neverSignedIn: return
    case .rejected, .expired:
      announce(account.end(reason, of: subject), upTo: subject.generation, of: account.authentication)
    case .signedOut:
      // Once for each session, however often an empty store is cleared.
      let session = account.authentication.parts.lastGeneration
      announce(account.end(reason, of: subject, session), upTo: subject.generation, of: account.authentication)
    }
  }

  /// Reports a sign-out.
  ///
  /// - Parameters:
  ///   - generation: the generation of the removed credentials.
  ///   - next: the current generation.
  func signedOut(_ authentication: Authentication, _ environment: Environment, _ generation: UInt64, next: UInt64) {
    guard let origin = environment.baseURL.origin else { return }
    let end = SessionEnd(
      reason: .signedOut, origin: origin, environment: environment.name, scheme: authentication.parts.scheme.name,
      call: nil, generation: generation)
    announce(end, upTo: next, of: authentication)
  }

  /// Reports the end of a session once.
  ///
  /// - Parameter last: the generation up to which this report counts.
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

/// The account of an authentication, as the calls of one client use it.
struct AuthenticatedAccount: RefreshAccount {
  let authentication: Authentication
  /// Reports to the app of the call's client.
  let middleware: AuthenticationMiddleware

  var origins: Set<Origin>? { authentication.parts.origins }

  func read(as principal: UInt64) async throws -> StoredCredential {
    try await authentication.read(as: principal)
  }

  func sessionEnded(_ subject: RefreshSubject, next: UInt64) {
    middleware.announce(end(.expired, of: subject), upTo: next, of: authentication)
  }

  /// The end of the session of a subject's credentials; `nil`: the message has no origin.
  ///
  /// - Parameter session: the generation of the session. Default: that of the credentials.
  func end(_ reason: SessionEnd.Reason, of subject: RefreshSubject, _ session: UInt64? = nil) -> SessionEnd? {
    subject.origin.map { origin in
      SessionEnd(
        reason: reason, origin: origin, environment: subject.context.environment.name,
        scheme: authentication.parts.scheme.name, call: subject.context.call.id,
        generation: session ?? subject.generation)
    }
  }
}

extension AuthenticationMiddleware: SelfDescribing {
  /// Whether session ends are reported. The authentications are part of the environment.
  package var facts: [Fact] { tellsOfEnds ? [.setting("reports session ends", "")] : [] }
}
