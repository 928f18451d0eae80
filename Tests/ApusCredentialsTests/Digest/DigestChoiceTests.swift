import ApusCore
import ApusMiddleware
import HTTPTypes
import Testing

@testable import ApusCredentials

@Suite("Choice of digest challenges")
struct DigestChoiceTests {
  private func chosen(_ challenges: String, allowsMD5: Bool = true) -> Challenge? {
    DigestScheme(allowsMD5: allowsMD5).choose(among: Challenge.all(in: [.wwwAuthenticate: challenges]))
  }

  /// Returns challenges with different realms and the given parameters. The realms are the numbers of the challenges.
  private func list(_ rest: [String]) -> String {
    rest.enumerated().map { #"Digest realm="\#($0.offset)", nonce=n\#($0.element)"# }.joined(separator: ", ")
  }

  @Test("The strongest challenge is chosen, and the first of several equally strong challenges")
  func strongest() {
    let (sha, shaSession) = (", qop=auth, algorithm=SHA-256", ", qop=auth, algorithm=SHA-256-sess")
    let (md5, md5Session) = (", qop=auth, algorithm=MD5", ", qop=auth, algorithm=MD5-sess")
    #expect(chosen(list([md5, sha]))?.realm == "1")
    #expect(chosen(list([sha, md5]))?.realm == "0")
    #expect(chosen(list([md5, md5Session, shaSession, sha]))?.realm == "2")
    #expect(chosen(list([sha, shaSession]))?.realm == "0")
    #expect(chosen(list([md5Session, md5]))?.realm == "0")
    #expect(chosen(list(["", md5]))?.realm == "1")
    #expect(chosen(list([", algorithm=MD5", ""]))?.realm == "0")
    #expect(chosen(list([md5, ", qop=auth, algorithm=SHA-512-256", sha]))?.realm == "1")
    #expect(chosen(list([", qop=auth, algorithm=SHA-512", md5]))?.realm == "1")
    #expect(chosen(list([md5, ", qop=auth-int, algorithm=SHA-256"]))?.realm == "1")
    #expect(chosen(#"Basic realm="a", digest realm="b", nonce=n, qop="auth-int, AUTH", NTLM"#)?.realm == "b")
  }

  private static let unanswerable = [
    "", "Basic", "Digest", "Digest abc=", #"Digest realm="a""#, #"Digest nonce="a""#,
    #"Digest realm="a", nonce=n, algorithm=SHA-512, qop=auth"#, #"Digest realm="a", nonce=n, algorithm="""#,
    #"Digest realm="a", nonce=n, qop="auth-conf""#, #"Digest realm="a", nonce=n, qop="""#,
    #"Digest realm="a", nonce=n, qop="authentic""#,
    // Without a quality of protection there is no client nonce, which these algorithms need.
    #"Digest realm="a", nonce=n, algorithm=SHA-256"#, #"Digest realm="a", nonce=n, algorithm=MD5-sess"#,
  ]

  @Test("An unsupported challenge is not chosen", arguments: unanswerable)
  func noAnswer(challenge: String) async throws {
    #expect(chosen(challenge) == nil)
    #expect(try await DigestExchange().answer(to: challenge) == nil)
  }

  @Test("An MD5 challenge is chosen only if MD5 is allowed")
  func withoutMD5() async throws {
    let md5 = [DigestBench.challenge("qop=auth"), DigestBench.challenge("algorithm=MD5-sess, qop=auth")]
    for challenge in md5 {
      #expect(chosen(challenge) != nil)
      #expect(chosen(challenge, allowsMD5: false) == nil)
      #expect(try await DigestExchange(scheme: DigestScheme(allowsMD5: false)).answer(to: challenge) == nil)
    }
    #expect(chosen(DigestBench.challenge("algorithm=SHA-256, qop=auth"), allowsMD5: false) != nil)
  }

  @Test("Without a challenge there is no response")
  func unasked() async throws {
    let exchange = DigestExchange()
    var request = exchange.request
    let isAdded = try await exchange.scheme.authorize(&request, with: exchange.credential, for: nil)
    #expect(!isAdded && request.head.headerFields.isEmpty)
  }
}
