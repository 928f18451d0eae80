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
    /// A reference to the store, so that its identity is not reused while this entry exists.
    let authentication: Authentication
    var generation: UInt64
  }

  /// The maximum number of stores in `reports`. A store that was dropped may be reported again.
  private static let maximumReports = 64

  private let onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  /// The latest generation that was reported, by store.
  private let reports = Mutex<[StoreIdentity: Report]>([:])

  /// Creates the middleware.
  ///
  /// - Parameter onSessionEnd: called once for each session that ends, see the table of ``SessionEnd``, before the
  ///   calls throw their errors. It must be quick. Default: `nil`.
  package init(onSessionEnd: (@Sendable (SessionEnd) -> Void)? = nil) {
    self.onSessionEnd = onSessionEnd
  }

  /// Adds the environment's credentials, and resends a rejected message if the credentials were refreshed or the server
  /// sent a challenge for other credentials.
  ///
  /// A call is bound to the accounts that are signed in when it begins. It ends with ``PrincipalChangedError`` if such
  /// an account signs out, or another account signs in, before the call is sent or resent; during a streamed response,
  /// this ends the stream. A call that began signed out never gets credentials.
  ///
  /// - Throws: ``TransportError``; the error of a refresh; the error of a scheme that rejects the response. The code is
  ///   `invalidRequest` if the credentials cannot be read or sent, or if the message must be resent and its content can
  ///   be read only once. The code is `refused` if the call requires credentials and no credentials are stored.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard applies(to: context) else { return try await next(request, context: context) }
    return try await authenticate(request, context, next)
  }

  private func applies(to context: CallContext) -> Bool {
    switch context.values[CredentialsPolicyKey.self] {
    case .none: false
    case .required: true
    case .optional: !context.environment.authentications.isEmpty
    }
  }

  @inline(never)
  private func authenticate(
    _ request: RequestMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    guard var exchange = try AuthenticatedExchange(request, context, self) else {
      return try await next(request, context: context)
    }
    var context = context
    // Rejections are examined here before their content is collected.
    context.answersChallenges = true
    let message = try await exchange.message()
    let response = try await next(message, context: context)
    try exchange.receive(response, to: message)
    guard response.statusCode == 401 else {
      exchange.recordAcceptance(response)
      if context.delivery == .streamed { await exchange.endWithSession(response) }
      return response
    }
    return try await resend(exchange, after: response, context, next)
  }

  /// Resends a rejected message until the server accepts it or the rejection is the call's response.
  @inline(never)
  private func resend(
    _ rejected: AuthenticatedExchange, after rejection: ResponseMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (exchange, response) = (rejected, rejection)
    while response.statusCode == 401 {
      switch try await exchange.react(to: response) {
      case .end(let rejection): return try await collected(rejection, context)
      case .resend(let message):
        response = try await next(message, context: context)
        try exchange.receive(response, to: message)
      }
    }
    exchange.recordAcceptance(response)
    if context.delivery == .streamed { await exchange.endWithSession(response) }
    return response
  }

  /// Returns the rejection as the final response, collected unless the call streams.
  private func collected(_ rejection: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    guard context.delivery == .buffered, rejection.content.bytes == nil else { return rejection }
    let data = try await rejection.content.collect(upTo: context.contentLimit) { context.received($0) }
    context.record(.contentArrived(length: Int64(data.count)))
    var collected = rejection
    collected.content = ResponseContent(data, trailers: rejection.content.trailers)
    return collected
  }

  // MARK: The end of a session

  /// Reports that a server rejected a message with or without credentials, unless the stored credentials were replaced
  /// in the meantime: a response may be late.
  ///
  /// - Parameter current: the current generation; `nil` if it is unknown.
  func report(_ credential: CallCredential, current: UInt64?) {
    let (stored, authentication) = (credential.stored, credential.authentication)
    if let current, current != stored.generation { return }
    let reason = authentication.parts.rejectionReason(stored)
    credential.context.record(.note(reason.note, Int64(clamping: stored.generation)))
    guard reason != .neverSignedIn else { return }
    // A sign-out is reported once, however often an empty store is cleared.
    let generation = reason == .signedOut ? authentication.parts.lastGeneration : nil
    report(credential.sessionEnd(reason, generation: generation), upTo: stored.generation, of: authentication)
  }

  /// Reports the end of a session once.
  ///
  /// - Parameter last: the last generation that this report covers.
  func report(_ end: SessionEnd?, upTo last: UInt64, of authentication: Authentication) {
    guard let onSessionEnd, let end else { return }
    let identity = StoreIdentity(authentication.parts.store, elseOf: authentication.parts)
    let isNew = reports.withLock { reports in
      let reported = reports[identity]?.generation
      if reported == nil, reports.count >= Self.maximumReports { reports.remove(at: reports.startIndex) }
      reports[identity] = Report(authentication: authentication, generation: max(last, reported ?? last))
      return reported.map { $0 < end.generation } ?? true
    }
    if isNew { onSessionEnd(end) }
  }
}

extension AuthenticationMiddleware: SelfDescribing {
  /// Whether session ends are reported. The authentications are part of the environment.
  package var facts: [Fact] { onSessionEnd == nil ? [] : [.setting("reports session ends", "")] }
}
