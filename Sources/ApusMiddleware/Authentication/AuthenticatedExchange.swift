import ApusCore
import HTTPTypes

/// One message, the authentications that may add their credentials to it, and the server's challenges.
///
/// ``message()`` returns the message with the current credentials. ``react(to:)`` returns the message to resend after a
/// rejection, by the decisions of ``AuthenticationRounds``.
struct AuthenticatedExchange {
  /// An authentication and its relation to the message.
  struct Candidate {
    let authentication: Authentication
    /// The content of the store when the call was bound to its principal, or the error of reading the store.
    let bound: Result<StoredCredential, any Error>
    /// The challenge that is known for the message's path, and the depth of the folder for which it is known.
    var challenge: Challenge?
    var depth = -1
    /// `nil` before the store was read for the message.
    var stored: StoredCredential?
    /// Whether the message carries the credentials.
    var isSent = false
    /// Whether the scheme requested to resend the message.
    var requestsResend = false

    /// Reads the current credentials. A call that began signed out never gets credentials.
    ///
    /// - Throws: ``PrincipalChangedError`` as the cause of a ``TransportError``, or the error that ended the session,
    ///   if the principal has changed; errors of reading.
    func read() async throws -> StoredCredential {
      let bound = try bound.get()
      guard bound.credential != nil else { return bound }
      return try await authentication.read(as: bound.principal)
    }
  }

  let request: RequestMessage
  let context: CallContext
  let middleware: AuthenticationMiddleware
  var candidates: [Candidate]
  var rounds = AuthenticationRounds()
  /// The index of the candidate that answers a challenge with the message in flight. The challenge is stored when the
  /// server accepts the message.
  var answering: Int?

  /// - Returns: `nil` if no authentication applies to the message.
  /// - Throws: ``TransportError`` if the message must carry credentials and cannot.
  init?(_ request: RequestMessage, _ context: CallContext, _ middleware: AuthenticationMiddleware) throws {
    let policy = context.values[CredentialsPolicyKey.self]
    let all = context.environment.authentications
    if all.isEmpty, policy == .required { throw Self.missing }
    let skipped = context.values[SkippedAuthentications.self]
    let principals = context.values[BoundPrincipalsKey.self]
    candidates = try all.compactMap { authentication in
      guard !skipped.contains(authentication.id), authentication.allows(request, in: context),
        // A rejection of a call's own credentials does not concern the credentials in the store.
        !authentication.isOverridden(by: request),
        // A call that belongs to a refresh must not wait for that refresh.
        !authentication.isRefreshing
      else { return nil }
      // An unbound call that waited could be sent with the credentials of another account.
      guard let principals else { throw Self.unbound }
      return principals[authentication].map { Candidate(authentication: authentication, bound: $0) }
    }
    if candidates.isEmpty {
      if policy == .required, context.isTrusted(request), skipped.isEmpty,
        !all.contains(where: { $0.isRefreshing || $0.isOverridden(by: request) })
      {
        throw Self.missing
      }
      return nil
    }
    (self.request, self.context, self.middleware) = (request, context, middleware)
  }

  private static let unbound = TransportError(
    .invalidRequest, requestState: .notSent,
    detail: "the pipeline has no PrincipalBinding: insert one in the slot principal, or start from Pipeline()")

  private static let missing = TransportError(
    .refused, requestState: .notSent, detail: "the call needs credentials, and there are none"
  ).attributed(to: .credentials)

  /// Returns the message with the current credentials.
  ///
  /// - Throws: ``TransportError`` if they cannot be read or sent, or are required and missing; the error of a refresh.
  mutating func message() async throws -> RequestMessage {
    var message = request
    let order = order()
    for position in candidates.indices {
      let index = order?[position] ?? position
      let candidate = candidates[index]
      let applies = candidate.authentication.parts.realm == nil || candidate.challenge != nil
      // Another authentication may have set the same field or parameter.
      if applies, position == 0 || !candidate.authentication.isOverridden(by: message) {
        candidates[index].stored = try await usableCredentials(of: candidate)
        try await addCredentials(of: index, to: &message)
      } else {
        // An error is ignored: the server may not require these credentials.
        candidates[index].stored = try? candidate.bound.get()
      }
    }
    if context.values[CredentialsPolicyKey.self] == .required, context.delivery != .described,
      candidates.allSatisfy({ $0.stored?.credential == nil })
    {
      for candidate in candidates {
        let reason = candidate.authentication.parts.rejectionReason(candidate.stored)
        context.record(.note(reason.note, Int64(clamping: candidate.stored?.generation ?? 0)))
      }
      throw Self.missing
    }
    return message
  }

  /// Returns the order of the candidates: candidates with the deepest known challenge come first. `nil` means the
  /// configured order.
  private mutating func order() -> [Int]? {
    for index in candidates.indices {
      guard let known = candidates[index].authentication.parts.spaces.challenge(for: request) else { continue }
      (candidates[index].challenge, candidates[index].depth) = (known.challenge, known.depth)
    }
    guard candidates.count > 1 else { return nil }
    return candidates.indices.sorted {
      (candidates[$0].depth, -$0) > (candidates[$1].depth, -$1)
    }
  }

  /// Reads the current credentials of a candidate, and waits for a refresh if they are unusable.
  private func usableCredentials(of candidate: Candidate) async throws -> StoredCredential {
    let stored = try await candidate.read()
    // A message that is only described must not cause a refresh.
    guard context.delivery != .described, let refresher = candidate.authentication.parts.refresher else {
      return stored
    }
    return try await CallCredential(stored, candidate.authentication, in: self).usable(refresher)
  }

  /// Adds a candidate's credentials to a message, if they have been read.
  mutating func addCredentials(of index: Int, to message: inout RequestMessage) async throws {
    let candidate = candidates[index]
    guard let stored = candidate.stored, let credential = stored.credential else { return }
    let scheme = candidate.authentication.parts.scheme
    candidates[index].isSent = try await scheme.authorize(&message, with: credential, for: candidate.challenge)
    if candidates[index].isSent { context.record(.credentialsAdded(generation: stored.generation)) }
  }

  // MARK: After the response

  /// Passes a response to the schemes whose credentials the message carries.
  ///
  /// - Throws: the error of a scheme that rejects the response, which is then discarded.
  mutating func receive(_ response: ResponseMessage, to message: RequestMessage) throws {
    for (index, candidate) in candidates.enumerated() where candidate.isSent {
      guard let credential = candidate.stored?.credential else { continue }
      do {
        candidates[index].requestsResend = try candidate.authentication.parts.scheme.receive(
          response, to: message, with: credential, for: candidate.challenge)
      } catch {
        response.discard()
        throw TransportError.rejectedByScheme(error)
      }
    }
  }

  /// Records that the server accepted the message. If the message answers a challenge, later messages answer the
  /// challenge in advance.
  func recordAcceptance(_ response: ResponseMessage) {
    if let answering { storeChallenge(of: answering) }
    // An error status does not show whether the server examined the credentials.
    guard response.statusCode < 400 else { return }
    for candidate in candidates where candidate.isSent {
      guard let stored = candidate.stored else { continue }
      candidate.authentication.parts.refresher?.accepted(stored)
    }
  }

  /// Stores the latest challenge of a candidate for the protection space of the message.
  func storeChallenge(of index: Int) {
    guard let challenge = candidates[index].challenge else { return }
    let parts = candidates[index].authentication.parts
    let isWhole = parts.realm == nil && context.environment.authentications.count == 1
    parts.spaces.store(challenge, from: request, isWhole: isWhole)
  }

  /// Ends a streamed response when the principal whose credentials the message carried signs out.
  func endWithSession(_ response: ResponseMessage) async {
    guard response.content.bytes == nil else { return }
    for candidate in candidates where candidate.isSent {
      guard let principal = candidate.stored?.principal else { continue }
      await candidate.authentication.parts.streams.add(response.content, of: principal, context)
    }
  }
}

extension Authentication {
  /// Whether the credentials may be sent to the origin of a message.
  fileprivate func allows(_ request: RequestMessage, in context: CallContext) -> Bool {
    guard let origins = parts.origins else { return context.isTrusted(request) }
    return request.origin.map { origins.contains($0) } ?? false || context.endpointTrusts(request)
  }
}

extension TransportError {
  /// Returns a scheme's error as a `TransportError` with the source `credentials`, which the breaker does not count.
  fileprivate static func rejectedByScheme(_ error: any Error) -> TransportError {
    var failure =
      error as? TransportError
      ?? TransportError(
        .refused, requestState: .responded, detail: "the response was rejected: \(error.loggedReason)",
        underlying: error)
    failure.requestState = .responded
    return failure.attributed(to: .credentials)
  }
}

/// Credentials that a message of a call carries or is about to carry.
struct CallCredential: Sendable {
  private(set) var stored: StoredCredential
  let authentication: Authentication
  let context: CallContext
  /// Reports the session's end to the app of the call's client.
  private let middleware: AuthenticationMiddleware
  /// The server of the message, which is parsed only for a report.
  private let server: (scheme: String?, authority: String?)

  init(_ stored: StoredCredential, _ authentication: Authentication, in exchange: AuthenticatedExchange) {
    self.stored = stored
    self.authentication = authentication
    (context, middleware) = (exchange.context, exchange.middleware)
    server = (exchange.request.head.scheme, exchange.request.head.authority)
  }

  /// The maximum number of refreshes before a message is sent: new tokens may have expired on arrival.
  private static let maximumRefreshes = 2

  /// Returns the credentials to send. Waits while the current credentials are unusable.
  func usable(_ refresher: Refresher) async throws -> StoredCredential {
    var (credential, refreshes, coolDowns) = (self, 0, 0)
    while refreshes < Self.maximumRefreshes, credential.stored.credential != nil {
      switch try await refresher.prepare(credential, after: coolDowns) {
      case .noWait: return credential.stored
      case .replaced: refreshes += 1
      case .coolDownEnded: coolDowns += 1
      }
      credential.stored = try await readAgain()
    }
    return credential.stored
  }

  /// Waits, after a rejection, until other credentials replace these credentials. Returns whether there are other
  /// credentials to send.
  func awaitReplacement(by refresher: Refresher) async throws -> Bool {
    var coolDowns = 0
    while true {
      let current = try await readAgain()
      switch try await refresher.awaitRenewal(of: self, current: current.generation, after: coolDowns) {
      case .noWait: return false
      case .coolDownEnded: coolDowns += 1
      case .replaced:
        let latest = try await readAgain()
        return latest.credential != nil && latest.generation != stored.generation
      }
    }
  }

  private func readAgain() async throws -> StoredCredential {
    try await authentication.read(as: stored.principal)
  }

  // MARK: The end of the session

  /// Returns the error of a call that needed a refresh. If the failure ended a session, reports this to the app of the
  /// call's client.
  func error(reporting failure: RefreshFailure) -> any Error {
    if let ended = failure.endedSession { reportExpiry(next: ended.next) }
    return failure.error
  }

  /// Reports that a refresh was rejected permanently.
  ///
  /// - Parameter next: the generation after the session.
  func reportExpiry(next: UInt64) {
    middleware.report(sessionEnd(.expired), upTo: next, of: authentication)
  }

  /// Returns the end of the credentials' session; `nil` if the message has no valid origin.
  ///
  /// - Parameter generation: the generation of the session. Default: the generation of the credentials.
  func sessionEnd(_ reason: SessionEnd.Reason, generation: UInt64? = nil) -> SessionEnd? {
    guard let scheme = server.scheme, let authority = server.authority,
      let origin = Origin(scheme: scheme, authority: authority)
    else { return nil }
    return SessionEnd(
      reason: reason, origin: origin, environment: context.environment.name,
      scheme: authentication.parts.scheme.name, call: context.call.id, generation: generation ?? stored.generation)
  }
}

extension Authentication {
  /// Reads the credentials; throws if they belong to another principal.
  ///
  /// - Throws: ``PrincipalChangedError`` as the cause of a ``TransportError`` if the credentials belong to another
  ///   principal, or the error of the refresh that ended the principal's session; errors of ``read()``.
  func read(as principal: UInt64) async throws -> StoredCredential {
    let stored = try await read()
    guard stored.principal == principal else {
      throw parts.refresher?.sessionEnd(of: principal) ?? PrincipalChangedError.error
    }
    return stored
  }

  /// Reads the credentials.
  ///
  /// - Throws: ``TransportError`` if they cannot be read; the error of another call and `CancellationError` unchanged.
  func read() async throws -> StoredCredential {
    do {
      let stored = try await parts.store.current()
      await parts.recordRead(stored)
      return stored
    } catch let error as CallError {
      throw error
    } catch is CancellationError where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw TransportError.unusable("the credentials could not be read: \(error.loggedReason)", underlying: error)
    }
  }
}
