/// The authentication of one message, rejection by rejection. A pure state machine.
///
/// Each authentication is refreshed at most once, resends at most once at its scheme's request, and answers one challenge
/// and at most two more that are stale. So the number of rounds is bounded, however often the server rejects the
/// message.
struct AuthenticationRounds {
  /// The state of an authentication for one message.
  struct Candidate: Hashable {
    /// Whether the message carried its credentials.
    var isShown: Bool
    /// Whether it has credentials.
    var hasCredential: Bool
    var isRefreshable: Bool
    /// The challenge that it would answer now.
    var asked: Challenge?
    /// The challenge that its credentials answered.
    var answered: Challenge?
    /// Whether its scheme asks to resend the message with the same credentials.
    var wantsResend = false
  }

  enum Step: Hashable {
    /// Refreshes the credentials of a candidate.
    case refresh(Int)
    /// Answers a challenge with a candidate's credentials.
    case answer(Int, Challenge)
    /// Resends the message with the same credentials, in the form that the server asks for.
    case resend(Int)
    /// The rejection is the call's response. It concerns the credentials of this candidate; `nil`: none.
    case end(about: Int?)
  }

  /// The maximum number of answers to stale challenges.
  private static let staleLimit = 2

  private var refreshed: Set<Int> = []
  private var answers: [Int: Int] = [:]
  private var resent: Set<Int> = []

  /// Decides what follows a rejection. A candidate keeps its index from round to round.
  mutating func step(_ candidates: [Candidate], isAsked: Bool) -> Step {
    if let index = candidates.firstIndex(where: { $0.isShown && $0.wantsResend }) {
      // The server does not reject the credentials, only their form: a refresh would not help.
      return resent.insert(index).inserted ? .resend(index) : .end(about: nil)
    }
    for (index, candidate) in candidates.enumerated() where candidate.hasCredential {
      if candidate.isShown, candidate.isRefreshable, !refreshed.contains(index),
        // Some servers send no challenge, or a wrong one: a single candidate must be the one that was rejected.
        !isAsked || candidate.asked != nil || candidates.count == 1
      {
        refreshed.insert(index)
        return .refresh(index)
      }
      if let challenge = candidate.asked, mayAnswer(challenge, index, candidate) {
        answers[index, default: 0] += 1
        return .answer(index, challenge)
      }
    }
    return .end(about: blamed(candidates))
  }

  private func mayAnswer(_ challenge: Challenge, _ index: Int, _ candidate: Candidate) -> Bool {
    let count = answers[index] ?? 0
    guard candidate.isShown else { return count == 0 }
    // Credentials that were sent without a challenge, or for the same challenge, would be rejected again.
    guard let answered = candidate.answered, answered != challenge else { return false }
    return count == 0 || count <= Self.staleLimit && challenge["stale"]?.lowercased() == "true"
  }

  /// The candidate whose credentials the server rejected: the first with sent credentials that the challenge asks for,
  /// else the first with sent credentials, else the first without credentials.
  private func blamed(_ candidates: [Candidate]) -> Int? {
    candidates.firstIndex { $0.isShown && $0.asked != nil } ?? candidates.firstIndex { $0.isShown }
      ?? candidates.firstIndex { !$0.hasCredential }
  }
}
