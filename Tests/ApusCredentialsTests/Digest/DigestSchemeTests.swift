import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCredentials

@Suite("Responses to digest challenges")
struct DigestSchemeTests {
  private let protected = DigestBench.challenge("qop=\"auth, auth-int\", algorithm=SHA-256")

  @Test("The parameters of a response are quoted exactly where RFC 7616 §3.4 requires quotes")
  func whole() async throws {
    let answer = try await DigestExchange().answer(to: protected + ", opaque=\"\(DigestBench.opaque)\"")
    let expected = [
      #"Digest username="Mufasa""#, #"realm="http-auth@example.org""#, #"nonce="\#(DigestBench.nonce)""#,
      #"uri="/dir/index.html""#, #"response="272a3ede4c65eda482fc4e367764d6364793ab7720ccaa27e2cb2e28aef2cffc""#,
      "algorithm=SHA-256", #"opaque="\#(DigestBench.opaque)""#, "qop=auth", "nc=00000001",
      #"cnonce="\#(DigestBench.clientNonce)""#,
    ]
    #expect(answer == expected.joined(separator: ", "))
  }

  @Test("Without a qop the response has no nonce count and no client nonce")
  func unprotected() async throws {
    let challenge = #"Digest realm="http-auth@example.org", nonce="\#(DigestBench.nonce)""#
    let answer = try await DigestExchange().answer(to: challenge)
    let expected = [
      #"Digest username="Mufasa""#, #"realm="http-auth@example.org""#, #"nonce="\#(DigestBench.nonce)""#,
      #"uri="/dir/index.html""#, #"response="7b2cc3b30e75b4777ea31027084363fd""#,
    ]
    #expect(answer == expected.joined(separator: ", "))
    let parameters = try await DigestExchange().parameters(for: DigestBench.challenge("algorithm=MD5, opaque=\"\""))
    #expect(parameters["algorithm"] == "MD5" && parameters["opaque"] == "")
  }

  /// Returns the parameters of the responses in two consecutive messages.
  private func twice(_ algorithm: String) async throws -> [[String: String]] {
    let exchange = DigestExchange(scheme: DigestScheme(random: SerialNumbers().next))
    let challenge = DigestBench.challenge("qop=\"auth\", algorithm=\(algorithm)")
    return [try await exchange.parameters(for: challenge), try await exchange.parameters(for: challenge)]
  }

  private static let firstNonce = "00000000000000010000000000000002"
  private static let secondNonce = "00000000000000030000000000000004"

  @Test("Every message has a new nonce count and a new client nonce")
  func counting() async throws {
    let answers = try await twice("SHA-256")
    #expect(answers.map { $0["nc"] } == ["00000001", "00000002"])
    #expect(answers.map { $0["cnonce"] } == [Self.firstNonce, Self.secondNonce])
    let responses: [String?] = [
      "373a314abcef3d1acb659f537098a8ba4bf2ba6a18a426777e7f62cd48c9cecf",
      "90f9840d3c369a4a34f1d317f91b5f20e7e072a1499ce426fcf97953e4f4e7f8",
    ]
    #expect(answers.map { $0["response"] } == responses)
  }

  @Test("The messages of a session use the client nonce of its first message")
  func sessions() async throws {
    let answers = try await twice("SHA-256-sess")
    #expect(answers.map { $0["nc"] } == ["00000001", "00000002"])
    #expect(answers.map { $0["cnonce"] } == [Self.firstNonce, Self.firstNonce])
    let responses: [String?] = [
      "d97201c9b453f8e996043ba8ecb11fe900a4fd1f91f54f789acc4a6e99dd0e53",
      "86b7d3f102e9ee643a40bdb4d133efca76a18b66a47e3668a410c5450503be8e",
    ]
    #expect(answers.map { $0["response"] } == responses)
    let weak: [String?] = ["76196c23cbc27562a287959e7773343e", "d1dd06860eeb0edba4144af4790ce7e4"]
    #expect(try await twice("MD5-sess").map { $0["response"] } == weak)
  }

  @Test("No two messages have the same nonce count, even if many are sent concurrently")
  func concurrency() async throws {
    let (scheme, challenge) = (DigestScheme(), protected)
    let answers = try await withThrowingTaskGroup(of: [String: String].self) { group in
      for _ in 0..<500 {
        group.addTask { try await DigestExchange(scheme: scheme).parameters(for: challenge) }
      }
      return try await group.reduce(into: [[String: String]]()) { $0.append($1) }
    }
    let counts = answers.compactMap { $0["nc"] }
    #expect(Set(counts).count == 500)
    #expect(counts.max() == "000001f4")
    #expect(Set(answers.compactMap { $0["cnonce"] }).count == 500)
  }

  @Test("The response covers the request target and the method of the message")
  func message() async throws {
    var exchange = DigestExchange()
    exchange.request = DigestBench.request("/v1/a?x=1&y=%22", .post)
    let parameters = try await exchange.parameters(for: protected)
    #expect(parameters["uri"] == "/v1/a?x=1&y=%22")
    #expect(parameters["response"] == "32f9b79ef03d6f82b9d49488079399b94ab6272d4a57ce4ff8ad04d7eaa28f19")
  }

  @Test("The field is marked as sensitive, and an existing field is kept")
  func field() async throws {
    let challenge = Challenge.all(in: [.wwwAuthenticate: protected]).first
    let exchange = DigestExchange()
    var request = exchange.request
    let isAdded = try await exchange.scheme.authorize(&request, with: exchange.credential, for: challenge)
    let added = request.head.headerFields
    #expect(isAdded && added[fields: .authorization].map(\.indexingStrategy) == [.disallow])
    let isAddedAgain = try await exchange.scheme.authorize(&request, with: exchange.credential, for: challenge)
    #expect(!isAddedAgain && request.head.headerFields == added)
    #expect(exchange.scheme.locations == [.field("Authorization")] && exchange.scheme.name == "Digest")
  }

  @Test("Quotes and backslashes are escaped in the field and hashed unescaped")
  func quoting() async throws {
    var exchange = DigestExchange()
    exchange.credential = .password(user: #"a"b\c"#, "Circle of Life")
    let challenge = #"Digest realm="r\"x\\y", nonce="\#(DigestBench.nonce)", qop="auth", algorithm=SHA-256"#
    let answer = try #require(try await exchange.answer(to: challenge))
    #expect(answer.hasPrefix(#"Digest username="a\"b\\c", realm="r\"x\\y", "#))
    #expect(answer.contains("443af3b56a70de1042b762bbf72325cce90a93ac928093ccd38f74735ea7cf1f"))
    // A combining mark after a quotation mark forms one character with it, but the quotation mark must still be
    // escaped.
    let marked = try await DigestExchange().answer(to: "Digest realm=\"\\\"\u{301}\", nonce=n")
    #expect(marked?.contains("realm=\"\\\"\u{301}\"") == true)
  }

  @Test("A name beyond ASCII is written in the extended notation if the server accepts UTF-8")
  func extendedName() async throws {
    var exchange = DigestExchange()
    exchange.credential = .password(user: "Jäsøn Doe", "Secret, or not?")
    exchange.request = DigestBench.request("/doe.json")
    let challenge =
      #"Digest realm="api@example.org", nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", "#
      + #"qop="auth", algorithm=SHA-256, charset=utf-8"#
    let parameters = try await exchange.parameters(for: challenge)
    #expect(parameters["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
    #expect(parameters["username"] == nil && parameters["userhash"] == nil)
    #expect(parameters["response"] == "ba96330e33c6d05fbd0fcdeea685e67bdb70748160486cf57c32c14f117d36f0")
    exchange.credential = .password(user: "ada", "pässwörd")
    #expect(try await exchange.parameters(for: challenge)["username"] == "ada")
  }

  @Test("A name is hashed if the server requests it")
  func hashedName() async throws {
    var exchange = DigestExchange()
    let plain = try await exchange.parameters(for: protected + ", userhash=true")
    #expect(plain["username"] == "a947aad205e80e429958a387394944c6b496301e79f89d35a4cc23b6ee12b5b6")
    #expect(plain["userhash"] == "true")
    // All other values are computed from the name itself.
    #expect(plain["response"] == "272a3ede4c65eda482fc4e367764d6364793ab7720ccaa27e2cb2e28aef2cffc")
    #expect(try await exchange.parameters(for: protected + ", userhash=false")["username"] == "Mufasa")
    exchange.credential = .password(user: "Jäsøn Doe", "p")
    let challenge = #"Digest realm="api@example.org", nonce=n, qop="auth", algorithm=SHA-256, userhash="TRUE""#
    let parameters = try await exchange.parameters(for: challenge)
    #expect(parameters["username"] == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
    #expect(parameters["username*"] == nil)
  }

  @Test("The algorithm is sent back as the server wrote it, even if it was quoted")
  func algorithmName() async throws {
    let answer = try #require(
      try await DigestExchange().answer(to: DigestBench.challenge(#"qop=auth, algorithm="sha-256""#)))
    #expect(answer.contains(", algorithm=sha-256, qop=auth, nc="))
    #expect(answer.contains("272a3ede4c65eda482fc4e367764d6364793ab7720ccaa27e2cb2e28aef2cffc"))
  }
}
