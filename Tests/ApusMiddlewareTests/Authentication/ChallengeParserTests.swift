import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Challenge parser")
struct ChallengeParserTests {
  private func challenges(_ lines: [String]) -> [Challenge] {
    var fields = HTTPFields()
    for line in lines { fields.append(HTTPField(name: .wwwAuthenticate, value: line)) }
    return Challenge.all(in: fields)
  }

  /// Returns the challenges as text, for example `Basic[realm=a] | Negotiate<abc==> | NTLM`.
  private func text(_ lines: String...) -> String {
    challenges(lines).map { challenge in
      let parameters = challenge.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
      let token = challenge.token.map { "<\($0)>" } ?? ""
      return challenge.scheme + token + (parameters.isEmpty ? "" : "[\(parameters)]")
    }.joined(separator: " | ")
  }

  private static let usual: [(String, String)] = [
    (#"Basic realm="simple""#, "Basic[realm=simple]"),
    ("Basic", "Basic"),
    ("Negotiate", "Negotiate"),
    ("Negotiate YII=", "Negotiate<YII=>"),
    ("NTLM TlRMTVNTUAACAAAAAAAAADgAAAABAgAC-._~+/==", "NTLM<TlRMTVNTUAACAAAAAAAAADgAAAABAgAC-._~+/==>"),
    (#"Bearer realm="example", error="invalid_token""#, "Bearer[realm=example;error=invalid_token]"),
    (#"Bearer scope="openid profile email""#, "Bearer[scope=openid profile email]"),
    (#"DPoP error="use_dpop_nonce", algs="ES256 PS256""#, "DPoP[error=use_dpop_nonce;algs=ES256 PS256]"),
    (#"Digest realm="a", qop="auth, auth-int", stale=FALSE"#, "Digest[realm=a;qop=auth, auth-int;stale=FALSE]"),
    ("Digest realm=a,nonce=b,algorithm=SHA-256", "Digest[realm=a;nonce=b;algorithm=SHA-256]"),
    ("HOBA max-age=180, challenge=MTYwMDI", "HOBA[max-age=180;challenge=MTYwMDI]"),
  ]

  @Test("A challenge is read with its token or its parameters", arguments: usual)
  func one(line: String, expected: String) {
    #expect(text(line) == expected)
  }

  private static let listed: [(String, String)] = [
    // The example of RFC 9110 §11.6.1.
    (
      #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
      #"Basic[realm=simple] | Newauth[realm=apps;type=1;title=Login to "apps"]"#
    ),
    (#"Newauth realm="apps", type=1, Basic realm="simple""#, "Newauth[realm=apps;type=1] | Basic[realm=simple]"),
    ("Negotiate, NTLM, Basic", "Negotiate | NTLM | Basic"),
    (#"Negotiate YII=, NTLM abc, Basic realm="a""#, "Negotiate<YII=> | NTLM<abc> | Basic[realm=a]"),
    (#"Negotiate,Basic realm="a",NTLM"#, "Negotiate | Basic[realm=a] | NTLM"),
    (#"Basic realm="a, Digest realm=b", Bearer"#, "Basic[realm=a, Digest realm=b] | Bearer"),
    (#"Digest realm="a", nonce="n", Digest realm="a", nonce="m""#, "Digest[realm=a;nonce=n] | Digest[realm=a;nonce=m]"),
    ("A b=c, d, E f=g", "A[b=c] | d | E[f=g]"),
    ("A b, C d=e", "A<b> | C[d=e]"),
  ]

  @Test("Several challenges in one line are distinguished from their parameters", arguments: listed)
  func several(line: String, expected: String) {
    #expect(text(line) == expected)
  }

  @Test("Every line is read, whatever the other lines contain")
  func lines() {
    #expect(text("Negotiate", #"Basic realm="a", Bearer"#, "NTLM") == "Negotiate | Basic[realm=a] | Bearer | NTLM")
    #expect(text(#"Basic realm="a"#, "=", "", "Bearer") == "Bearer")
    // A parameter belongs to a challenge of the same line.
    #expect(text("Bearer", #"realm="a""#) == "Bearer")
    #expect(text().isEmpty)
    #expect(Challenge.all(in: [.proxyAuthenticate: "Basic", .authorization: "Bearer a"]).isEmpty)
  }

  private static let spaced: [(String, String)] = [
    (#"Basic realm = "a""#, "Basic[realm=a]"), (#"Basic realm= "a""#, "Basic[realm=a]"),
    (#"Basic realm ="a""#, "Basic[realm=a]"), (#"Basic    realm="a""#, "Basic[realm=a]"),
    ("Basic\trealm\t=\ta\t", "Basic[realm=a]"), (#"A b = c , d = "e" , F"#, "A[b=c;d=e] | F"),
    (",Basic", "Basic"), (", ,, Basic , ,", "Basic"), (#"Digest ,realm="a",,nonce=b,"#, "Digest[realm=a;nonce=b]"),
    (#"Basic , realm="a""#, "Basic[realm=a]"), (",,,", ""), (" ", ""),
    ("Negotiate abc= , NTLM", "Negotiate<abc=> | NTLM"),
  ]

  @Test("Optional spaces and empty elements are skipped", arguments: spaced)
  func spaces(line: String, expected: String) {
    #expect(text(line) == expected)
  }

  private static let quoted: [(String, String)] = [
    (#"A b="""#, "A[b=]"), (#"A b="\"""#, #"A[b="]"#), (#"A b="\\""#, #"A[b=\]"#), (#"A b="\a\ \,""#, "A[b=a ,]"),
    (#"A b="c\\", d=e"#, #"A[b=c\;d=e]"#), (#"A b="=,= ""#, "A[b==,= ]"),
    ("A b=\"\t\"", "A[b=\t]"), (#"A b="Zugänge 日本""#, "A[b=Zugänge 日本]"),
  ]

  @Test("Only quotes and escapes are removed from quoted strings", arguments: quoted)
  func quotes(line: String, expected: String) {
    #expect(text(line) == expected)
  }

  private static let unquoted: [(String, String)] = [
    ("Bearer login=https://login.example/a?b=c;d", "Bearer[login=https://login.example/a?b=c;d]"),
    ("Digest nonce=MTYwMA==, realm=a@b", "Digest[nonce=MTYwMA==;realm=a@b]"),
    ("Basic realm=(a), charset=UTF-8", "Basic[realm=(a);charset=UTF-8]"),
    // A name alone is a token by the grammar.
    ("Basic realm=", "Basic<realm=>"), ("Basic realm", "Basic<realm>"),
  ]

  @Test("A value without quotes ends at the next space or comma", arguments: unquoted)
  func withoutQuotes(line: String, expected: String) {
    #expect(text(line) == expected)
  }

  private static let malformed: [(String, String)] = [
    (#"realm="a""#, ""), ("=", ""), ("=a", ""), (#""Basic""#, ""), ("(a)", ""), ("é", ""), ("Basic;realm=a", ""),
    (#"Basic "a""#, ""), (#"Basic realm="a"#, ""), (#"Basic realm="a\"#, ""), (#"Basic realm="a\""#, ""),
    (#"Basic realm="a"b"#, ""), ("Basic realm=a b", ""), (#"Basic realm=a"b""#, ""), (#"Basic realm=\a"#, ""),
    ("Basic realm=é", ""), ("Basic realm=,a=b", ""), ("Basic a=, b=c", ""), ("Basic a=b, c=", ""),
    ("Negotiate abc=, a=b", ""), ("Negotiate abc=d=", "Negotiate[abc=d=]"), ("Negotiate a b", ""),
    ("Bearer error_description=The token expired", ""),
    (#"Negotiate, Basic realm="a", Bearer realm="b"#, "Negotiate | Basic[realm=a]"),
    (#"Basic realm="a", Digest realm=b c, NTLM"#, "Basic[realm=a]"),
    (#"Basic realm="a", @, NTLM"#, ""),
  ]

  @Test("Malformed text is skipped to the end of its line, with its challenge", arguments: malformed)
  func broken(line: String, expected: String) {
    #expect(text(line) == expected)
    let all = ["Before", expected, "After"].filter { !$0.isEmpty }
    #expect(text("Before", line, "After") == all.joined(separator: " | "))
  }

  @Test("A value in ISO-8859-1 can be read")
  func latin() {
    let bytes = Array("Basic realm=\"Zug".utf8) + [0xE4] + Array("nge\"".utf8)
    let challenges = Challenge.all(in: HTTPFields([HTTPField(name: .wwwAuthenticate, value: bytes)]))
    #expect(challenges.map(\.realm) == ["Zugänge"])
  }

  @Test("At most 32 challenges are read")
  func manyChallenges() {
    let lines = (1...40).map { "S\($0)" }
    #expect(challenges(lines).map(\.scheme) == Array(lines.prefix(32)))
    #expect(challenges([lines.joined(separator: ",")]).map(\.scheme) == Array(lines.prefix(32)))
  }

  @Test("A challenge with more than 64 parameters is skipped with everything that follows")
  func manyParameters() {
    func line(_ count: Int) -> String { "A " + (1...count).map { "p\($0)=v" }.joined(separator: ", ") }
    #expect(challenges([line(64), "B"]).map(\.parameters.count) == [64, 0])
    #expect(challenges(["Before", line(65) + ", C", "B"]).map(\.scheme) == ["Before"])
  }

  @Test("A line beyond 16 KiB is skipped with everything that follows")
  func muchText() {
    func line(_ length: Int) -> String { "A " + String(repeating: "b", count: length - 2) }
    #expect(challenges([line(16 << 10)]).count == 1)
    #expect(challenges([line(16 << 10), "B"]).count == 1)
    #expect(challenges([line((16 << 10) + 1), "B"]).isEmpty)
    #expect(challenges(["B", line(16 << 10), "C"]).map(\.scheme) == ["B"])
    #expect(challenges([String(repeating: "A,", count: 8 << 10)]).count == 32)
    #expect(challenges([String(repeating: ",", count: 16 << 10)]).isEmpty)
    #expect(challenges([String(repeating: "A b=\"", count: 3000)]).isEmpty)
  }

  @Test("Names are compared case-insensitively, and the first of several parameters with one name is used")
  func names() {
    let challenge = Challenge("BASIC", parameters: [.init("Realm", "a"), .init("realm", "b")])
    #expect(
      challenge.matches(scheme: "Basic") && challenge.matches(scheme: "basic") && !challenge.matches(scheme: "Bearer"))
    #expect(challenge.realm == "a" && challenge["realm"] == "a" && challenge["nonce"] == nil)
  }

  @Test("By default a scheme chooses the first challenge with its name")
  func choosing() {
    let all = challenges([#"Bearer realm="a", basic realm="b", Basic realm="c""#])
    #expect(BasicScheme().choose(among: all)?.realm == "b")
    #expect(BearerScheme().choose(among: all)?.realm == "a")
    #expect(BasicScheme().choose(among: []) == nil)
    #expect(APIKeyScheme(location: .field("X-Api-Key")).choose(among: all) == nil)
  }
}
