import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCredentials

@Suite("Weak digest challenges")
struct DigestDowngradeTests {
  private static let sha = "qop=auth, algorithm=SHA-256"
  private static let md5 = "qop=auth, algorithm=MD5"
  /// A challenge without a quality of protection, as in RFC 2069.
  private static let oldest = "algorithm=MD5"

  private func exchange(_ scheme: DigestScheme, at origin: String) -> DigestExchange {
    var exchange = DigestExchange(scheme: scheme)
    let parts = origin.split(separator: "://")
    (exchange.request.head.scheme, exchange.request.head.authority) = (String(parts[0]), String(parts[1]))
    return exchange
  }

  private func refusal(_ scheme: DigestScheme, at origin: String, of rest: String) async -> DigestRefusal? {
    let error = await exchange(scheme, at: origin).refusal(of: DigestBench.challenge(rest))
    #expect(error == nil || error?.code == .refused)
    return error?.underlying as? DigestRefusal
  }

  @Test(
    "Over plain http to another machine, an MD5 challenge gets a response only if the app allows it",
    arguments: [
      ("https://a.example", nil, nil), ("http://a.example", nil, .weakAlgorithm), ("http://a.example", true, nil),
      ("http://192.168.1.2", nil, .weakAlgorithm), ("http://localhost:8080", nil, nil),
      ("http://127.0.0.1:1", nil, nil),
      ("http://[::1]:1", nil, nil), ("http://127.evil.example", nil, .weakAlgorithm),
      ("http://localhost.evil.example", nil, .weakAlgorithm),
    ] as [(String, Bool?, DigestRefusal?)])
  func plainHTTP(origin: String, allowsMD5: Bool?, expected: DigestRefusal?) async {
    for rest in [Self.md5, "qop=auth, algorithm=MD5-sess", Self.oldest, "qop=auth"] {
      #expect(await refusal(DigestScheme(allowsMD5: allowsMD5), at: origin, of: rest) == expected)
    }
    #expect(await refusal(DigestScheme(allowsMD5: allowsMD5), at: origin, of: Self.sha) == nil)
  }

  @Test(
    "A challenge that is weaker than an earlier one of the same server gets no response",
    arguments: [
      (sha, md5, true), (sha, oldest, true), (md5, oldest, true), (sha, sha, false), (md5, sha, false),
      (oldest, md5, false),
      (oldest, sha, false), (sha, "qop=auth, algorithm=SHA-256-sess", false),
    ])
  func downgrade(first: String, second: String, isRefused: Bool) async {
    for (origin, allowsMD5) in [("https://a.example", nil), ("http://a.example", true)] as [(String, Bool?)] {
      let scheme = DigestScheme(allowsMD5: allowsMD5)
      #expect(await refusal(scheme, at: origin, of: first) == nil)
      #expect(await refusal(scheme, at: origin, of: second) == (isRefused ? .downgrade : nil))
      // A different realm does not circumvent the rule. Another server is not affected.
      let renamed = DigestBench.challenge(second).replacing("http-auth@example.org", with: "other")
      let error = await exchange(scheme, at: origin).refusal(of: renamed)
      #expect(error?.underlying as? DigestRefusal == (isRefused ? .downgrade : nil))
      #expect(await refusal(scheme, at: origin + ":8443", of: second) == nil)
    }
  }

  @Test("A call that gets a weak challenge fails with the reason, and no digest response is sent")
  func call() async throws {
    let stub = StubTransport()
    let challenge = { (rest: String) in
      StubReply.status(401, fields: [.wwwAuthenticate: #"Digest realm="things", nonce=n, \#(rest)"#])
    }
    stub.on(.get, "/ping", replies: [challenge(Self.sha), .status(204), challenge(Self.md5 + ", stale=true")])
    var environment = Environment(baseURL: "http://a.example")
    environment.authentication = .digest(MemoryCredentialsStore(.password(user: "ada", "p")), allowsMD5: true)
    var pipeline = Pipeline()
    pipeline.insert(AuthenticationMiddleware(), .after(.authentication))
    let api = Client(environment: environment, pipeline: pipeline, transport: stub)
    try await api.send(Request<Void>.get("/ping"))
    let error = await failure { try await api.send(Request<Void>.get("/ping")) }
    #expect(error?.code == .refused && error?.requestState == .responded)
    #expect(error?.underlying as? DigestRefusal == .downgrade)
    #expect(error?.detail.contains("weaker digest than before") == true)
    #expect(stub.exchanges.count == 3)
  }
}
