import ApusCore
import Testing

@testable import ApusCredentials

@Suite("Digest sessions")
struct DigestSessionsTests {
  private func key(_ nonce: String, at host: String = "a.example") -> DigestSessions.Key {
    DigestSessions.Key(origin: Origin(scheme: "https", host: host, port: 443), nonce: nonce)
  }

  private func count(_ sessions: inout DigestSessions, _ key: DigestSessions.Key) -> String? {
    sessions.next(key, clientNonce: "c", staysInSession: false)?.protection.count
  }

  @Test("Each nonce of each server has a separate count")
  func counts() {
    var sessions = DigestSessions()
    let keys = [key("n"), key("n"), key("m"), key("n"), key("n", at: "b.example"), key("m")]
    let counts = keys.map { count(&sessions, $0) }
    #expect(counts == ["00000001", "00000002", "00000001", "00000003", "00000001", "00000002"])
  }

  @Test("Counts have eight hexadecimal digits")
  func digits() {
    var sessions = DigestSessions()
    let counts = (0..<300).map { _ in count(&sessions, key("n")) }
    #expect(counts[9] == "0000000a" && counts[254] == "000000ff" && counts[255] == "00000100")
  }

  @Test("A session keeps the client nonce of its first message; other messages have new client nonces")
  func clientNonces() {
    var sessions = DigestSessions()
    func next(_ clientNonce: String, _ nonce: String, _ stays: Bool) -> String? {
      sessions.next(key(nonce), clientNonce: clientNonce, staysInSession: stays)?.protection.clientNonce
    }
    let inSession = [next("1", "n", true), next("2", "n", true), next("3", "m", true), next("4", "n", true)]
    #expect(inSession == ["1", "1", "3", "1"])
    let single = [next("5", "o", false), next("6", "o", false)]
    #expect(single == ["5", "6"])
  }

  @Test("A nonce that has reached its maximum count is not used again, but other nonces are still used")
  func usedUp() {
    var sessions = DigestSessions(maximumUses: 2)
    let counts = ["n", "n", "n", "n", "m"].map { count(&sessions, key($0)) }
    #expect(counts == ["00000001", "00000002", nil, nil, "00000001"])
  }

  @Test("Beyond the limit the least recently used nonce is removed")
  func forgetting() {
    var sessions = DigestSessions(limit: 2)
    let counts = ["a", "b", "a", "c", "a", "c", "b"].map { count(&sessions, key($0)) }
    #expect(counts == ["00000001", "00000001", "00000002", "00000001", "00000003", "00000002", "00000001"])
  }

  @Test("The successor of a nonce replaces it in messages, with a separate count")
  func successors() {
    var sessions = DigestSessions()
    func next() -> [String?] {
      let use = sessions.next(key("n"), clientNonce: "c", staysInSession: false)
      return [use?.nonce, use?.protection.count]
    }
    #expect(next() == ["n", "00000001"])
    sessions.setSuccessor(of: key("n"), to: "m")
    #expect([next(), next()] == [["m", "00000001"], ["m", "00000002"]])
    sessions.setSuccessor(of: key("n"), to: "o")
    #expect(next() == ["o", "00000001"])
    // No count of a nonce is used twice, even if the nonce returns in different ways.
    sessions.setSuccessor(of: key("n"), to: "m")
    #expect(next() == ["m", "00000003"])
    sessions.setSuccessor(of: key("n"), to: nil)
    #expect(next() == ["n", "00000002"])
    #expect(count(&sessions, key("m")) == "00000004")
    sessions.setSuccessor(of: key("n", at: "b.example"), to: "p")
    #expect(next() == ["n", "00000003"])
  }

  @Test("A session keeps its client nonce when a response states the next nonce")
  func sessionSuccessors() {
    var sessions = DigestSessions()
    let first = sessions.next(key("n"), clientNonce: "1", staysInSession: true)
    sessions.setSuccessor(of: key("n"), to: "m")
    let second = sessions.next(key("n"), clientNonce: "2", staysInSession: true)
    #expect(first?.protection.clientNonce == "1" && second?.protection.clientNonce == "1")
    #expect(first?.nonce == "n" && second?.nonce == "m")
  }
}
