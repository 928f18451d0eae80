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
