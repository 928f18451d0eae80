import ApusCore
import ApusCredentials
import ApusMiddleware
import HTTPTypes
import Testing

@Suite("Unusable credentials for digest")
struct DigestRefusalTests {
  private static let secret = DigestBench.sentinel
  private let challenge = DigestBench.challenge("qop=auth, algorithm=SHA-256")

  private func refusal(_ user: String, _ password: String, of challenge: String? = nil) async -> TransportError? {
    let exchange = DigestExchange(credential: .password(user: user, Secret(password)))
    return await exchange.refusal(of: challenge ?? self.challenge)
  }

  private static let controls = [
    ("\(secret)\r\nX-Evil: 1", "p"), ("\(secret)\0", "p"), ("\t\(secret)", "p"), ("u", "\(secret)\n"),
    ("u", "\u{7F}\(secret)"), ("u\u{85}", secret),
  ]

  @Test("A control character is refused, with an error that contains neither name nor password", arguments: controls)
  func control(user: String, password: String) async throws {
    let error = try #require(await refusal(user, password))
    #expect(error.code == .invalidRequest && error.requestState == .notSent)
    #expect(error.detail == "the user name or the password holds a control character")
    #expect(!texts(of: error).contains(DigestBench.sentinel))
  }

  @Test(
    "A name beyond ASCII is written in quotes in UTF-8 if the server states no charset",
    arguments: ["algorithm=SHA-256", "charset=ISO-8859-1", "userhash=false, algorithm=MD5"])
  func beyondASCII(rest: String) async throws {
    let exchange = DigestExchange(credential: .password(user: "Jäsøn", "pässwörd"))
    let challenge = DigestBench.challenge("qop=auth, " + rest)
    let answer = try #require(try await exchange.answer(to: challenge))
    #expect(answer.hasPrefix("Digest username=\"Jäsøn\", "))
    #expect(!answer.contains("username*"))
    // The strongest of several challenges is chosen, whatever it states about names.
    let all = Challenge.all(in: [.wwwAuthenticate: challenge + ", Digest realm=b, nonce=n, charset=UTF-8"])
    let chosen = try #require(exchange.scheme.choose(among: all))
    var request = exchange.request
    let isAdded = try await exchange.scheme.authorize(&request, with: exchange.credential, for: chosen)
    #expect(isAdded)
  }

  @Test("A refused message uses no nonce count")
  func noCount() async throws {
    var exchange = DigestExchange()
    exchange.credential = .password(user: "\n", "p")
    #expect(await exchange.refusal(of: challenge) != nil)
    exchange.credential = .password(user: "u", "p")
    #expect(try await exchange.parameters(for: challenge)["nc"] == "00000001")
  }

  @Test(
    "Names and passwords without control characters are accepted, even if they are empty",
    arguments: ["", "a:b", "a b,c=\"d\"", "'%;"])
  func fine(text: String) async throws {
    let exchange = DigestExchange(credential: .password(user: text, Secret(text)))
    #expect(try await exchange.parameters(for: challenge)["username"] == text)
  }

  @Test("A token is refused, and the error states that a name and a password are needed")
  func wrongKind() async throws {
    let exchange = DigestExchange(credential: .token(Secret(Self.secret)))
    let error = try #require(await exchange.refusal(of: challenge))
    #expect(error.code == .invalidRequest && error.requestState == .notSent)
    #expect(error.detail == "digest authentication needs a name and a password")
    #expect(!texts(of: error).contains(Self.secret))
  }
}
