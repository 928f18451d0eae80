import ApusCore
import HTTPTypes

/// One message, the authentications that may add their credentials to it, and the server's challenges.
struct AuthenticatedExchange {
  /// The step after a rejection.
  enum Next {
    case send(RequestMessage)
    /// The rejection is the call's response.
    case end(ResponseMessage)
  }

  /// An authentication and its relation to the message.
  private struct Candidate {
    let authentication: Authentication
    /// The account that the call is bound to; `nil` before the first read if the call was not bound when it began.
    var account: BoundAccount?
    /// The challenge that is known for the message's path, and the depth of the folder for which it is known.
    var challenge: Challenge?
    var depth = -1
    /// `nil`: not read yet.
    var stored: StoredCredential?
    var isShown = false
    /// Whether the scheme asks to resend the message.
    var wantsResend = false
  }

  private let request: RequestMessage
  private let context: CallContext
  private let middleware: AuthenticationMiddleware
  private var candidates: [Candidate]
  private var rounds = AuthenticationRounds()
  /// The challenge that the message under way answers. It is learned when the server accepts the message.
  private var answered: (index: Int, challenge: Challenge)?
  /// The candidates whose credentials were just refreshed.
  private var refreshed: Set<Int> = []

  /// - Returns: `nil` if the message carries no credentials.
  /// - Throws: ``TransportError`` if the message must carry credentials and cannot.
  init?(_ request: RequestMessage, _ context: CallContext, _ middleware: AuthenticationMiddleware) throws {
    let use = context.values[CredentialsPolicyKey.self]
    guard use != .none else { return nil }
    let all = context.environment.authentications
    if all.isEmpty, use == .required { throw Self.missing }
    let forgone = context.values[ForgoneAuthentications.self]
    let accounts = context.values[BoundAccountsKey.self]
    candidates = all.compactMap { authentication in
      guard !forgone.contains(ObjectIdentifier(authentication.parts)),
        authentication.allows(request, in: context),
        // A rejection of a call's own credentials says nothing about the credentials in the store.
        !authentication.isAnticipated(by: request),
        // A call that belongs to a refresh must not wait for that refresh.
        !authentication.isAtWork,
        // A call carries only credentials of the accounts that it is bound to.
        accounts == nil || accounts?[authentication] != nil
      else { return nil }
      return Candidate(authentication: authentication, account: accounts?[authentication])
    }
    if candidates.isEmpty {
      if use == .required, context.isAtHome(request), forgone.isEmpty,
        !all.contains(where: { $0.isAtWork || $0.isAnticipated(by: request) })
      {
        throw Self.missing
      }
      return nil
    }
    // An unbound call that waited could be sent with the credentials of another account.
    guard accounts != nil else { throw Self.unbound }
    (self.request, self.context, self.middleware) = (request, context, middleware)
  }

  /// The message with the current credentials.
  ///
  /// - Throws: ``TransportError`` if they cannot be read or sent, or are required and missing; the error of a refresh.
  mutating func message() async throws -> RequestMessage {
    var message = request
    let order = order()
    for place in candidates.indices {
      let index = order?[place] ?? place
      let candidate = candidates[index]
      let isAsked = candidate.authentication.parts.realm == nil || candidate.challenge != nil
      // Another authentication may have set the same field or parameter.
      if isAsked, place == 0 || !candidate.authentication.isAnticipated(by: message) {
        candidates[index].stored = try await current(index)
        try await show(index, on: &message)
      } else {
        // An error matters only if these credentials are needed.
        candidates[index].stored = try? await bound(index).stored.get()
      }
    }
    if context.values[CredentialsPolicyKey.self] == .required, context.delivery != .described,
      candidates.allSatisfy({ $0.stored?.credential == nil })
    {
      for candidate in candidates {
        let reason = candidate.authentication.parts.reasonForNone(candidate.stored)
        context.record(.note(reason.note, Int64(clamping: candidate.stored?.generation ?? 0)))
      }
      throw Self.missing
    }
    return message
  }

  /// Shows a response to the schemes whose credentials the message carries.
  ///
  /// - Throws: the error of a scheme that rejects the response, which is then discarded.
  mutating func receive(_ response: ResponseMessage, to message: RequestMessage) throws {
    for (index, candidate) in candidates.enumerated() where candidate.isShown {
      guard let credential = candidate.stored?.credential else { continue }
      do {
        candidates[index].wantsResend = try candidate.authentication.parts.scheme.receive(
          response, to: message, with: credential, for: candidate.challenge)
      } catch {
        response.discard()
        throw RefreshFailure.afterResponse(RefusedResponse.shown(error))
      }
    }
  }

  /// Decides what follows a rejection.
  ///
  /// - Throws: ``TransportError`` if the message must be resent and its content can be sent only once; the error of a
  ///   refresh.
  mutating func next(after response: ResponseMessage) async throws -> Next {
    do {
      return try await step(after: response)
    } catch {
      throw RefreshFailure.afterResponse(error)
    }
  }

  /// Notes that the server accepted the message. From now on its challenge is answered in advance.
  func accepted(_ response: ResponseMessage) {
    if let answered { learn(answered) }
    settle(response)
  }

  /// Notes that the server accepted refreshed credentials. An error status may have other reasons.
  func settle(_ response: ResponseMessage) {
    guard response.statusCode < 400 else { return }
    for candidate in candidates where candidate.isShown {
      guard let stored = candidate.stored else { continue }
      candidate.authentication.parts.refresher?.accepted(stored)
    }
  }

  private func learn(_ answered: (index: Int, challenge: Challenge)) {
    let parts = candidates[answered.index].authentication.parts
    let isWhole = parts.realm == nil && context.environment.authentications.count == 1
    parts.spaces.learn(answered.challenge, from: request, isWhole: isWhole)
  }

  private mutating func step(after response: ResponseMessage) async throws -> Next {
    let challenges = Challenge.all(in: response.head.headerFields)
    let asked = candidates.map { $0.authentication.asked(challenges) }
    let facts = zip(candidates, asked).map { candidate, asked in
      AuthenticationRounds.Candidate(
        isShown: candidate.isShown, hasCredential: candidate.stored?.credential != nil,
        isRefreshable: candidate.authentication.parts.refresher != nil, asked: asked, answered: candidate.challenge,
        wantsResend: candidate.wantsResend)
    }
    switch rounds.step(facts, isAsked: !challenges.isEmpty) {
    case .refresh(let index): return try await refresh(index, after: response)
    case .answer(let index, let challenge): return try await answer(challenge, index, after: response)
    case .resend(let index): return try await resend(index, after: response)
    case .end(let index):
      if let index { await end(about: index) }
      return .end(response)
    }
  }

  /// Ends a streamed response when an account signs out whose credentials the message carried.
  func watch(_ response: ResponseMessage) async {
    guard response.content.bytes == nil else { return }
    for candidate in candidates where candidate.isShown {
      guard let principal = candidate.stored?.principal else { continue }
      await candidate.authentication.parts.streams.add(response.content, of: principal, context)
    }
  }

  // MARK: Before the first message

  private static let unbound = TransportError(
    .invalidRequest, requestState: .notSent,
    detail: "the pipeline has no PrincipalBinding: insert one in the slot principal, or start from Pipeline()")

  private static let missing = TransportError(
    .refused, requestState: .notSent, detail: "the call needs credentials, and there are none"
  ).attributed(to: .credentials)

  /// The order of the candidates: those with the deepest known challenge first; `nil`: as configured.
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

  /// The account that the call is bound to. Without an earlier binding, it is the current account.
  private mutating func bound(_ index: Int) async throws -> BoundAccount {
    if let account = candidates[index].account { return account }
    let account = BoundAccount(try await candidates[index].authentication.result())
    candidates[index].account = account
    return account
  }

  private mutating func current(_ index: Int) async throws -> StoredCredential {
    let authentication = candidates[index].authentication
    let stored = try await bound(index).current(authentication)
    // A message that is only described must not cause a refresh.
    guard let refresher = authentication.parts.refresher, context.delivery != .described else { return stored }
    return try await subject(stored, authentication).current(refresher)
  }

  private func account(_ authentication: Authentication) -> AuthenticatedAccount {
    AuthenticatedAccount(authentication: authentication, middleware: middleware)
  }

  private func subject(_ stored: StoredCredential, _ authentication: Authentication) -> RefreshSubject {
    RefreshSubject(stored: stored, account: account(authentication), context: context, origin: request.origin)
  }

  private mutating func show(_ index: Int, on message: inout RequestMessage) async throws {
    let candidate = candidates[index]
    guard let stored = candidate.stored, let credential = stored.credential else { return }
    let scheme = candidate.authentication.parts.scheme
    candidates[index].isShown = try await scheme.authorize(
      &message, with: credential, for: candidate.challenge)
    if candidates[index].isShown { context.record(.credentialsAdded(generation: stored.generation)) }
  }

  // MARK: After a rejection

  private mutating func refresh(_ index: Int, after response: ResponseMessage) async throws -> Next {
    let authentication = candidates[index].authentication
    guard let stored = candidates[index].stored, let refresher = authentication.parts.refresher else {
      return .end(response)
    }
    context.record(.credentialsRejected(generation: stored.generation))
    let refusal = try await kept(response)
    guard let renewed = try await subject(stored, authentication).next(refresher) else {
      let current = try? await authentication.parts.source.current()
      middleware.report(subject(stored, authentication), of: account(authentication), current: current?.generation)
      return .end(refusal)
    }
    try requireReplay("the server refused the credentials; there are new ones, and content that can be sent once only")
    refreshed.insert(index)
    candidates[index].stored = renewed
    return try await again(first: index).map { .send($0) } ?? .end(refusal)
  }

  private mutating func answer(_ challenge: Challenge, _ index: Int, after response: ResponseMessage) async throws
    -> Next
  {
    context.record(.note("answers the server's challenge by authentication number", Int64(index + 1)))
    candidates[index].challenge = challenge
    answered = (index, challenge)
    let refusal = try await kept(response)
    // The next call can answer the challenge in advance.
    if !request.content.isReplayable { learn((index, challenge)) }
    try requireReplay("the server asks for credentials, and the content can be sent once only")
    return try await again(first: index).map { .send($0) } ?? .end(refusal)
  }

  private mutating func resend(_ index: Int, after response: ResponseMessage) async throws -> Next {
    context.record(.note("resends as the server asks, by authentication number", Int64(index + 1)))
    let refusal = try await kept(response)
    try requireReplay("the server asks for another form of the credentials, and the content can be sent once only")
    return try await again(first: index).map { .send($0) } ?? .end(refusal)
  }

  private func requireReplay(_ detail: String) throws {
    guard request.content.isReplayable else {
      throw TransportError(.invalidRequest, requestState: .responded, detail: detail)
    }
  }

  /// The message to resend, with the credentials of one candidate, and of other candidates that use a different field
  /// or parameter. All credentials are read again.
  ///
  /// - Returns: `nil` if the first candidate's scheme cannot add its credentials.
  /// - Throws: if the account has changed.
  private mutating func again(first: Int) async throws -> RequestMessage? {
    var message = request
    for index in [first] + candidates.indices.filter({ $0 != first }) {
      let candidate = candidates[index]
      candidates[index].isShown = false
      candidates[index].wantsResend = false
      guard index == first || candidate.isShown, !candidate.authentication.isAnticipated(by: message) else { continue }
      candidates[index].stored = try await bound(index).current(candidate.authentication)
      try await show(index, on: &message)
    }
    return candidates[first].isShown ? message : nil
  }

  private func end(about index: Int) async {
    let candidate = candidates[index]
    guard let stored = candidate.stored else { return }
    context.record(.credentialsRejected(generation: stored.generation))
    let current = try? await candidate.authentication.parts.source.current()
    if refreshed.contains(index), let current {
      candidate.authentication.parts.refresher?.rejectedAgain(stored, current: current.generation, context)
    }
    let account = account(candidate.authentication)
    middleware.report(subject(stored, candidate.authentication), of: account, current: current?.generation)
  }

  /// The maximum number of bytes that are kept of a rejection.
  private static let keptLength = 64 << 10

  /// The rejection without its connection. Long or slow content is discarded.
  private func kept(_ response: ResponseMessage) async throws -> ResponseMessage {
    if response.content.bytes != nil { return response }
    let content = try await IntermediateContent.collect(response.content, upTo: Self.keptLength, context)
    guard let content else { return ResponseMessage(head: response.head) }
    context.record(.contentArrived(length: Int64(content.count)))
    return ResponseMessage(
      head: response.head, content: ResponseContent(content, trailers: response.content.trailers))
  }
}

/// The errors of calls whose response a scheme rejected.
private enum RefusedResponse {
  /// The error of a scheme, in the form for the call. It concerns the credentials: the server has not failed.
  static func shown(_ error: any Error) -> any Error {
    if let error = error as? TransportError { return error.attributed(to: .credentials) }
    return TransportError(
      .refused, requestState: .responded, detail: "the response was rejected: \(error.loggedReason)", underlying: error
    ).attributed(to: .credentials)
  }
}
