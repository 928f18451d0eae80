/// What follows when a server refuses a message, for all authentications that may be shown to it: pure.
///
/// Each of them is refreshed once and answers one challenge; one whose challenge was only out of date answers again. So
/// it comes to an end, however often the server refuses.
struct AuthenticationRounds {
  /// An authentication as far as it matters here.
  struct Candidate: Hashable {
    /// Whether the message showed its credentials.
    var isShown: Bool
    /// Whether it has credentials.
    var hasCredential: Bool
    var isRefreshable: Bool
    /// What it would answer of what the server asks for now.
    var asked: Challenge?
    /// What its credentials were shown for.
    var answered: Challenge?
  }

  enum Step: Hashable {
    /// Its credentials are no good any more: others are needed.
    case refresh(Int)
    /// It answers a challenge.
    case answer(Int, Challenge)
    /// The refusal is the caller's. It is about the credentials of this one; none: nobody's.
    case end(about: Int?)
  }

  /// More answers than this are a server that is never content.
  private static let staleLimit = 2

  private var refreshed: Set<Int> = []
  private var answers: [Int: Int] = [:]

  /// What follows; ``Candidate``s keep their places from round to round.
  mutating func step(_ candidates: [Candidate], isAsked: Bool) -> Step {
    for (index, candidate) in candidates.enumerated() where candidate.hasCredential {
      if candidate.isShown, candidate.isRefreshable, !refreshed.contains(index),
        // Some servers do not say what they want, or say it wrongly: where nobody else is there it must be this.
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
    // Shown unasked, for want of a challenge: the same once more would not help.
    guard let answered = candidate.answered, answered != challenge else { return false }
    return count == 0 || count <= Self.staleLimit && challenge["stale"]?.lowercased() == "true"
  }

  /// Whose credentials the server did not take: those that it asks for of those it was shown, else the first of these,
  /// else those there are none of.
  private func blamed(_ candidates: [Candidate]) -> Int? {
    candidates.firstIndex { $0.isShown && $0.asked != nil } ?? candidates.firstIndex { $0.isShown }
      ?? candidates.firstIndex { !$0.hasCredential }
  }
}
