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
    shown: Bool = true, refreshable: Bool = false, asked: Challenge? = nil, answered: Challenge? = nil
  ) -> Candidate {
    Candidate(isShown: shown, hasCredential: true, isRefreshable: refreshable, asked: asked, answered: answered)
  }

  @Test("Credentials that were sent and are not asked for otherwise are rejected")
  func plain() {
    var rounds = Rounds()
    #expect(rounds.step([candidate()], isAsked: false) == .end(about: 0))
    #expect(rounds.step([candidate(asked: basic)], isAsked: true) == .end(about: 0))
    #expect(rounds.step([], isAsked: true) == .end(about: nil))
  }

  @Test("Signed out, the rejection concerns the candidate without credentials")
  func signedOut() {
    var rounds = Rounds()
    let nobody = Candidate(isShown: false, hasCredential: false, isRefreshable: true, asked: basic)
    #expect(rounds.step([nobody], isAsked: true) == .end(about: 0))
  }

  @Test(
    "Credentials are refreshed once; the second rejection is the call's response",
    arguments: [Challenge?.none, Challenge("Bearer"), Challenge("Other")])
  func refresh(challenge: Challenge?) {
    var rounds = Rounds()
    let asked = challenge?.scheme == "Bearer" ? challenge : nil
    let only = [candidate(refreshable: true, asked: asked)]
    #expect(rounds.step(only, isAsked: challenge != nil) == .refresh(0))
    #expect(rounds.step(only, isAsked: challenge != nil) == .end(about: 0))
  }

  @Test("Of several candidates the one that the server asks for is refreshed; without a challenge the first one")
  func several() {
    var rounds = Rounds()
    let key = candidate()
    #expect(rounds.step([key, candidate(refreshable: true)], isAsked: false) == .refresh(1))
    rounds = Rounds()
    // No credentials were sent: the rejection concerns no candidate with credentials.
    #expect(rounds.step([candidate(shown: false)], isAsked: false) == .end(about: nil))
    rounds = Rounds()
    #expect(rounds.step([key, candidate(refreshable: true)], isAsked: true) == .end(about: 0))
    rounds = Rounds()
    let asked = candidate(refreshable: true, asked: Challenge("Bearer"))
    #expect(rounds.step([key, asked], isAsked: true) == .refresh(1))
    #expect(rounds.step([key, asked], isAsked: true) == .end(about: 1))
  }

  @Test("A challenge is answered once, by the first candidate that can; a wrong answer is rejected")
  func answer() {
    var rounds = Rounds()
    let others = [candidate(), candidate(shown: false, asked: digest), candidate(shown: false, asked: basic)]
    #expect(rounds.step(others, isAsked: true) == .answer(1, digest))
    var now = others
    now[1].isShown = true
    now[1].answered = digest
    now[1].asked = Challenge("Digest", parameters: [.init("nonce", "3")])
    now[2].asked = nil
    #expect(rounds.step(now, isAsked: true) == .end(about: 1))
  }

  @Test("Credentials that answered an old challenge answer a new one, but not the same one again")
  func newChallenge() {
    var rounds = Rounds()
    #expect(rounds.step([candidate(asked: digest, answered: digest)], isAsked: true) == .end(about: 0))
    #expect(rounds.step([candidate(asked: stale, answered: digest)], isAsked: true) == .answer(0, stale))
  }

  @Test("A stale challenge is answered again, up to a limit")
  func outOfDate() {
    var rounds = Rounds()
    #expect(rounds.step([candidate(shown: false, asked: digest)], isAsked: true) == .answer(0, digest))
    let again = [candidate(asked: stale, answered: digest)]
    #expect(rounds.step(again, isAsked: true) == .answer(0, stale))
    #expect(rounds.step(again, isAsked: true) == .answer(0, stale))
    #expect(rounds.step(again, isAsked: true) == .end(about: 0))
  }

  @Test("A token for a realm is sent when that is asked for, and refreshed when it is rejected")
  func both() {
    var rounds = Rounds()
    let challenge = Challenge("Bearer", parameters: [.init("realm", "a")])
    let first = [candidate(shown: false, refreshable: true, asked: challenge)]
    #expect(rounds.step(first, isAsked: true) == .answer(0, challenge))
    let second = [candidate(refreshable: true, asked: challenge, answered: challenge)]
    #expect(rounds.step(second, isAsked: true) == .refresh(0))
    #expect(rounds.step(second, isAsked: true) == .end(about: 0))
  }

  @Test("A scheme's request to resend is followed once, before any refresh; a second one ends the message")
  func resend() {
    var rounds = Rounds()
    var asking = candidate(refreshable: true, asked: basic)
    asking.wantsResend = true
    #expect(rounds.step([candidate(), asking], isAsked: true) == .resend(1))
    #expect(rounds.step([candidate(), asking], isAsked: true) == .end(about: nil))
    // The token may be rejected as well.
    #expect(rounds.step([candidate(), candidate(refreshable: true, asked: basic)], isAsked: true) == .refresh(1))
    #expect(rounds.step([candidate(), asking], isAsked: true) == .end(about: nil))
  }
}
