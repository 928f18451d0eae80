import Testing

@testable import ApusMiddleware

@Suite("Authentication: decisions after a rejection")
struct AuthenticationRoundsTests {
  typealias Rounds = AuthenticationRounds
  typealias Candidate = AuthenticationRounds.Candidate

  private let basic = Challenge("Basic", parameters: [.init("realm", "a")])
  private let stale = Challenge("Digest", parameters: [.init("nonce", "2"), .init("stale", "TRUE")])
  private let digest = Challenge("Digest", parameters: [.init("nonce", "1")])

  private func candidate(
    sent: Bool = true, refreshable: Bool = false, challenge: Challenge? = nil, answered: Challenge? = nil
  ) -> Candidate {
    Candidate(
      isSent: sent, hasCredential: true, isRefreshable: refreshable, challenge: challenge, answered: answered)
  }

  @Test("If no challenge can be answered, the rejection concerns the credentials that were sent")
  func plain() {
    var rounds = Rounds()
    #expect(rounds.decide([candidate()], hasChallenges: false) == .end(rejected: 0))
    #expect(rounds.decide([candidate(challenge: basic)], hasChallenges: true) == .end(rejected: 0))
    #expect(rounds.decide([], hasChallenges: true) == .end(rejected: nil))
  }

  @Test("Signed out, the rejection concerns the candidate without credentials")
  func signedOut() {
    var rounds = Rounds()
    let signedOut = Candidate(isSent: false, hasCredential: false, isRefreshable: true, challenge: basic)
    #expect(rounds.decide([signedOut], hasChallenges: true) == .end(rejected: 0))
  }

  @Test(
    "Credentials are refreshed once; the second rejection is the call's response",
    arguments: [Challenge?.none, Challenge("Bearer"), Challenge("Other")])
  func refresh(challenge: Challenge?) {
    var rounds = Rounds()
    let answerable = challenge?.scheme == "Bearer" ? challenge : nil
    let only = [candidate(refreshable: true, challenge: answerable)]
    #expect(rounds.decide(only, hasChallenges: challenge != nil) == .refresh(0))
    #expect(rounds.decide(only, hasChallenges: challenge != nil) == .end(rejected: 0))
  }

  @Test("The candidate of the challenge is refreshed; without a challenge, the first candidate is refreshed")
  func several() {
    var rounds = Rounds()
    let key = candidate()
    #expect(rounds.decide([key, candidate(refreshable: true)], hasChallenges: false) == .refresh(1))
    rounds = Rounds()
    // No credentials were sent: the rejection concerns no candidate with credentials.
    #expect(rounds.decide([candidate(sent: false)], hasChallenges: false) == .end(rejected: nil))
    rounds = Rounds()
    #expect(rounds.decide([key, candidate(refreshable: true)], hasChallenges: true) == .end(rejected: 0))
    rounds = Rounds()
    let challenged = candidate(refreshable: true, challenge: Challenge("Bearer"))
    #expect(rounds.decide([key, challenged], hasChallenges: true) == .refresh(1))
    #expect(rounds.decide([key, challenged], hasChallenges: true) == .end(rejected: 1))
  }

  @Test("A challenge is answered once, by the first candidate that can answer; a wrong answer is rejected")
  func answer() {
    var rounds = Rounds()
    let others = [candidate(), candidate(sent: false, challenge: digest), candidate(sent: false, challenge: basic)]
    #expect(rounds.decide(others, hasChallenges: true) == .answer(1, digest))
    var now = others
    now[1].isSent = true
    now[1].answered = digest
    now[1].challenge = Challenge("Digest", parameters: [.init("nonce", "3")])
    now[2].challenge = nil
    #expect(rounds.decide(now, hasChallenges: true) == .end(rejected: 1))
  }

  @Test("Credentials that answered an old challenge answer a new challenge, but not the same challenge again")
  func newChallenge() {
    var rounds = Rounds()
    #expect(rounds.decide([candidate(challenge: digest, answered: digest)], hasChallenges: true) == .end(rejected: 0))
    #expect(rounds.decide([candidate(challenge: stale, answered: digest)], hasChallenges: true) == .answer(0, stale))
  }

  @Test("A stale challenge is answered again, up to a limit")
  func outOfDate() {
    var rounds = Rounds()
    #expect(rounds.decide([candidate(sent: false, challenge: digest)], hasChallenges: true) == .answer(0, digest))
    let second = [candidate(challenge: stale, answered: digest)]
    #expect(rounds.decide(second, hasChallenges: true) == .answer(0, stale))
    #expect(rounds.decide(second, hasChallenges: true) == .answer(0, stale))
    #expect(rounds.decide(second, hasChallenges: true) == .end(rejected: 0))
  }

  @Test("A token for a realm is sent after a challenge with the realm, and refreshed after a rejection")
  func both() {
    var rounds = Rounds()
    let challenge = Challenge("Bearer", parameters: [.init("realm", "a")])
    let first = [candidate(sent: false, refreshable: true, challenge: challenge)]
    #expect(rounds.decide(first, hasChallenges: true) == .answer(0, challenge))
    let second = [candidate(refreshable: true, challenge: challenge, answered: challenge)]
    #expect(rounds.decide(second, hasChallenges: true) == .refresh(0))
    #expect(rounds.decide(second, hasChallenges: true) == .end(rejected: 0))
  }

  @Test("A message is resent once if its scheme requests a resend, before any refresh; a second request is not met")
  func resend() {
    var rounds = Rounds()
    var asking = candidate(refreshable: true, challenge: basic)
    asking.requestsResend = true
    #expect(rounds.decide([candidate(), asking], hasChallenges: true) == .resend(1))
    #expect(rounds.decide([candidate(), asking], hasChallenges: true) == .end(rejected: nil))
    // After the resend, the rejected token is refreshed.
    #expect(
      rounds.decide([candidate(), candidate(refreshable: true, challenge: basic)], hasChallenges: true) == .refresh(1))
    #expect(rounds.decide([candidate(), asking], hasChallenges: true) == .end(rejected: nil))
  }
}
