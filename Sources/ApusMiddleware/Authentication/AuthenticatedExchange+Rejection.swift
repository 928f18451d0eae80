import ApusCore
import HTTPTypes

extension AuthenticatedExchange {
  /// The reaction to a rejection.
  enum Reaction {
    case resend(RequestMessage)
    /// The rejection is the call's response.
    case end(ResponseMessage)
  }

  /// Reacts to a rejection.
  ///
  /// - Throws: ``TransportError`` if the message must be resent and its content can be read only once; the error of a
  ///   refresh.
  mutating func react(to rejection: ResponseMessage) async throws -> Reaction {
    do {
      switch decide(about: rejection) {
      case .refresh(let index): return try await refresh(index, after: rejection)
      case .answer(let index, let challenge): return try await answer(challenge, index, after: rejection)
      case .resend(let index):
        context.record(.note("resends as the server asks, by authentication number", Int64(index + 1)))
        let rejection = try await withoutConnection(rejection)
        return try await resend(
          first: index, or: rejection,
          refusal: "the server requires another form of the credentials; the request cannot be resent")
      case .end(let index):
        if let index, let stored = candidates[index].stored {
          context.record(.credentialsRejected(generation: stored.generation))
          let credential = CallCredential(stored, candidates[index].authentication, in: self)
          await reportRejection(of: credential, isRefreshed: rounds.refreshed.contains(index))
        }
        return .end(rejection)
      }
    } catch let error as TransportError {
      var error = error
      error.requestState = .responded
      throw error
    }
  }

  private mutating func decide(about rejection: ResponseMessage) -> AuthenticationRounds.Decision {
    let challenges = Challenge.all(in: rejection.head.headerFields)
    let states = candidates.map { candidate in
      AuthenticationRounds.Candidate(
        isSent: candidate.isSent, hasCredential: candidate.stored?.credential != nil,
        isRefreshable: candidate.authentication.parts.refresher != nil,
        challenge: candidate.authentication.challenge(among: challenges), answered: candidate.challenge,
        requestsResend: candidate.requestsResend)
    }
    return rounds.decide(states, hasChallenges: !challenges.isEmpty)
  }

  private mutating func refresh(_ index: Int, after rejection: ResponseMessage) async throws -> Reaction {
    let candidate = candidates[index]
    guard let stored = candidate.stored, let refresher = candidate.authentication.parts.refresher else {
      return .end(rejection)
    }
    context.record(.credentialsRejected(generation: stored.generation))
    let rejection = try await withoutConnection(rejection)
    let credential = CallCredential(stored, candidate.authentication, in: self)
    guard try await credential.awaitReplacement(by: refresher) else {
      await reportRejection(of: credential, isRefreshed: false)
      return .end(rejection)
    }
    return try await resend(
      first: index, or: rejection,
      refusal: "the server rejected the credentials; the request cannot be resent with new ones")
  }

  private mutating func answer(
    _ challenge: Challenge, _ index: Int, after rejection: ResponseMessage
  ) async throws -> Reaction {
    context.record(.note("answers the server's challenge by authentication number", Int64(index + 1)))
    candidates[index].challenge = challenge
    answering = index
    let rejection = try await withoutConnection(rejection)
    // The next call can answer the challenge in advance.
    if !request.content.isReplayable { storeChallenge(of: index) }
    return try await resend(
      first: index, or: rejection, refusal: "the server requires credentials; the request cannot be resent with them")
  }

  /// Returns the message to resend, with the credentials of candidate `first` and of all candidates that use different
  /// fields or parameters. Reads all credentials again. Returns the rejection if the scheme of `first` cannot add its
  /// credentials.
  ///
  /// - Parameter refusal: the text of the error if the content can be read only once.
  /// - Throws: ``TransportError`` if the content can be read only once; ``PrincipalChangedError`` as the cause of a
  ///   ``TransportError``; errors of reading.
  private mutating func resend(
    first: Int, or rejection: ResponseMessage, refusal: String
  ) async throws -> Reaction {
    guard request.content.isReplayable else {
      throw TransportError(
        .invalidRequest, requestState: .responded, detail: "\(refusal), because its content can be read only once")
    }
    var message = request
    for index in [first] + candidates.indices.filter({ $0 != first }) {
      let candidate = candidates[index]
      candidates[index].isSent = false
      candidates[index].requestsResend = false
      guard index == first || candidate.isSent, !candidate.authentication.isOverridden(by: message) else { continue }
      candidates[index].stored = try await candidate.read()
      try await addCredentials(of: index, to: &message)
    }
    return candidates[first].isSent ? .resend(message) : .end(rejection)
  }

  /// Reports a rejection, unless the credentials were replaced in the meantime.
  ///
  /// - Parameter isRefreshed: whether the rejected credentials were just refreshed.
  private func reportRejection(of credential: CallCredential, isRefreshed: Bool) async {
    let parts = credential.authentication.parts
    let current = try? await parts.store.current().generation
    if isRefreshed, let current {
      parts.refresher?.rejectedAfterRefresh(credential.stored, current: current, context)
    }
    middleware.report(credential, current: current)
  }

  /// The maximum number of bytes of a rejection that are read before the message is resent.
  private static let maximumRejectionLength = 64 << 10

  /// Returns a rejection without its connection. Long or slow content is discarded.
  private func withoutConnection(_ rejection: ResponseMessage) async throws -> ResponseMessage {
    if rejection.content.bytes != nil { return rejection }
    let content = try await IntermediateContent.collect(
      rejection.content, upTo: Self.maximumRejectionLength, context)
    var rejection = rejection
    if let content { context.record(.contentArrived(length: Int64(content.count))) }
    rejection.content = content.map { ResponseContent($0, trailers: rejection.content.trailers) } ?? .empty
    return rejection
  }
}

extension Authentication {
  /// Returns the challenge that this authentication would answer; `nil` if there is no such challenge.
  fileprivate func challenge(among challenges: [Challenge]) -> Challenge? {
    guard !challenges.isEmpty else { return nil }
    guard let realm = parts.realm else { return parts.scheme.choose(among: challenges) }
    return parts.scheme.choose(among: challenges.filter { $0.realm == realm })
  }
}

/// The authentication of one message, rejection by rejection. A pure state machine.
///
/// Each authentication is refreshed at most once, resends at most once at its scheme's request, and answers one
/// challenge and at most two further challenges that are stale. So the number of rounds is bounded, however often the
/// server rejects the message.
struct AuthenticationRounds {
  /// The state of an authentication for one message.
  struct Candidate: Hashable {
    /// Whether the message carried the credentials.
    var isSent: Bool
    var hasCredential: Bool
    var isRefreshable: Bool
    /// The challenge of the rejection that the authentication would answer.
    var challenge: Challenge?
    /// The challenge that the sent credentials answered.
    var answered: Challenge?
    /// Whether the scheme requests to resend the message with the same credentials.
    var requestsResend = false
  }

  enum Decision: Hashable {
    /// Refreshes the credentials of a candidate.
    case refresh(Int)
    /// Answers a challenge with a candidate's credentials.
    case answer(Int, Challenge)
    /// Resends the message with the same credentials, in the form that the server requires.
    case resend(Int)
    /// The rejection is the call's response. It concerns the credentials of this candidate; `nil` if it concerns no
    /// credentials.
    case end(rejected: Int?)
  }

  /// The maximum number of answers to stale challenges.
  private static let maximumStaleAnswers = 2

  /// The candidates for which a refresh was decided.
  private(set) var refreshed: Set<Int> = []
  private var answers: [Int: Int] = [:]
  private var resent: Set<Int> = []

  /// Decides about a rejection. A candidate has the same index in each round.
  mutating func decide(_ candidates: [Candidate], hasChallenges: Bool) -> Decision {
    if let index = candidates.firstIndex(where: { $0.isSent && $0.requestsResend }) {
      // The server does not reject the credentials, only their form: a refresh would not help.
      return resent.insert(index).inserted ? .resend(index) : .end(rejected: nil)
    }
    for (index, candidate) in candidates.enumerated() where candidate.hasCredential {
      if candidate.isSent, candidate.isRefreshable, !refreshed.contains(index),
        // A single candidate is always the rejected candidate, because some servers send no challenge or a wrong
        // challenge.
        !hasChallenges || candidate.challenge != nil || candidates.count == 1
      {
        refreshed.insert(index)
        return .refresh(index)
      }
      if let challenge = candidate.challenge, mayAnswer(challenge, index, candidate) {
        answers[index, default: 0] += 1
        return .answer(index, challenge)
      }
    }
    return .end(rejected: rejected(candidates))
  }

  private func mayAnswer(_ challenge: Challenge, _ index: Int, _ candidate: Candidate) -> Bool {
    let count = answers[index] ?? 0
    guard candidate.isSent else { return count == 0 }
    // Credentials that were sent without a challenge, or for the same challenge, would be rejected again.
    guard let answered = candidate.answered, answered != challenge else { return false }
    return count == 0 || count <= Self.maximumStaleAnswers && challenge["stale"]?.lowercased() == "true"
  }

  /// Returns the candidate whose credentials the server rejected: the first with sent credentials that a challenge
  /// concerns, else the first with sent credentials, else the first without credentials.
  private func rejected(_ candidates: [Candidate]) -> Int? {
    candidates.firstIndex { $0.isSent && $0.challenge != nil } ?? candidates.firstIndex { $0.isSent }
      ?? candidates.firstIndex { !$0.hasCredential }
  }
}
