import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusCredentials

@Suite("Calls with digest")
struct DigestCallTests {
  private let stub = StubTransport()
  private let events = Events()
  private let ping = Request<Void>.get("/ping")

  private final class Events: Sendable {
    private let events = Mutex<[SessionEnd]>([])

    var count: Int { events.withLock { $0.count } }

    @Sendable func add(_ event: SessionEnd) {
      events.withLock { $0.append(event) }
    }
  }

  private func client(_ authentication: Authentication? = nil) -> Client {
    let source = MemoryCredentialsStore(.password(user: "ada", "pa:ss"))
    var environment = Environment(baseURL: "https://api.example.com/v1")
    environment.authentication = authentication ?? .scheme(DigestScheme(random: DigestBench.random), source)
    var pipeline = Pipeline()
    pipeline.insert(AuthenticationMiddleware(onSessionEnd: events.add), .after(.authentication))
    return Client(environment: environment, pipeline: pipeline, transport: stub)
  }

  private func asks(_ rest: String...) -> StubReply {
    var fields = HTTPFields()
    for rest in rest { fields.append(HTTPField(name: .wwwAuthenticate, value: #"Digest realm="things", \#(rest)"#)) }
    return .status(401, fields: fields)
  }

  private func answers(_ answers: StubReply...) {
    stub.on(.get, "/v1/ping", replies: answers)
  }

  /// Returns the values of a parameter in all messages that were sent.
  private func sent(_ name: String) -> [String?] {
    stub.exchanges.map { DigestBench.parameters(of: $0.fields[.authorization])[name] }
  }

  @Test("The first message is resent with a response, and later messages respond in advance")
  func askedOnce() async throws {
    answers(asks("nonce=n1, qop=auth, algorithm=SHA-256"), .status(204))
    let api = client()
    try await api.send(ping)
    try await api.send(ping)
    #expect(sent("nc") == [nil, "00000001", "00000002"])
    #expect(
      sent("response") == [
        nil, "fd42b3a43b20c2d564215967c12d436dbb841256eb7b0056df203b6986c10a74",
        "3e56e92e60583dc9d189e7f7185d51ff14c07879f5873832392535c69588c338",
      ])
    #expect(sent("uri") == [nil, "/v1/ping", "/v1/ping"])
    #expect(events.count == 0)
  }

  @Test("The strongest of several challenges is used, whatever the order of the lines")
  func strongest() async throws {
    let (md5, sha) = ("nonce=n1, qop=auth, algorithm=MD5", "nonce=n3, qop=auth, algorithm=SHA-256")
    let unknown = "nonce=n2, qop=auth, algorithm=SHA-512, Basic realm=\"things\""
    answers(asks(md5, unknown, sha), .status(204))
    try await client().send(ping)
    #expect(sent("nonce") == [nil, "n3"])
    #expect(sent("algorithm") == [nil, "SHA-256"])
  }

  @Test("A stale nonce is replaced without notifying the app")
  func stale() async throws {
    answers(
      asks("nonce=n1, qop=auth, algorithm=SHA-256"), .status(204),
      asks("nonce=n2, qop=auth, algorithm=SHA-256, stale=true"), .status(204))
    let api = client()
    try await api.send(ping)
    try await api.send(ping)
    try await api.send(ping)
    #expect(sent("nonce") == [nil, "n1", "n1", "n2", "n2"])
    #expect(sent("nc") == [nil, "00000001", "00000002", "00000001", "00000002"])
    #expect(events.count == 0)
  }

  @Test("A wrong password is sent once; then the call gets the rejection, and the app is notified once")
  func wrongPassword() async throws {
    answers(asks("nonce=n1, qop=auth, algorithm=SHA-256"), asks("nonce=n2, qop=auth, algorithm=SHA-256"))
    let api = client()
    let error = try #require(await failure { try await api.send(ping) })
    #expect(error.status == 401)
    #expect(sent("nonce") == [nil, "n1"])
    #expect(events.count == 1)
  }

  @Test("A server that offers only MD5 gets no response if MD5 is not allowed")
  func withoutMD5() async throws {
    answers(asks("nonce=n1, qop=auth"))
    let api = client(.digest(MemoryCredentialsStore(.password(user: "ada", "p")), allowsMD5: false))
    let error = try #require(await failure { try await api.send(ping) })
    #expect(error.status == 401)
    #expect(sent("nc") == [nil])
  }

  @Test("Only the specified realm gets a response")
  func realms() async throws {
    let source = MemoryCredentialsStore(.password(user: "ada", "p"))
    answers(asks("nonce=n1, qop=auth"), asks("nonce=n2, qop=auth"), .status(204))
    let other = client(.digest(source, realm: "other"))
    let error = try #require(await failure { try await other.send(ping) })
    #expect(error.status == 401)
    try await client(.digest(source, realm: "things")).send(ping)
    #expect(sent("nonce") == [nil, nil, "n2"])
  }

  @Test("Name, password and response are not printed by the call, its error, its trace or its client")
  func noSecrets() async throws {
    let sentinel = DigestBench.sentinel
    answers(asks("nonce=n1, qop=auth, algorithm=SHA-256"), asks("nonce=n2, qop=auth, algorithm=SHA-256"))
    let source = MemoryCredentialsStore(.password(user: sentinel, Secret(sentinel)))
    let scheme = DigestScheme(random: DigestBench.random)
    let authentication = Authentication.scheme(scheme, source)
    let api = client(authentication)
    let error = try #require(await failure { try await api.send(ping) })
    let exchange = try #require(stub.exchanges.last)
    let response = try #require(DigestBench.parameters(of: exchange.fields[.authorization])["response"])
    #expect(DigestBench.parameters(of: exchange.fields[.authorization])["username"] == sentinel)
    let values: [Any] = [
      error, error.trace, error.trace.events, error.detail, api, api.environment, exchange.request, scheme,
      authentication, source,
    ]
    for text in values.map({ texts(of: $0) }) + ["\(error.trace)", exchange.request.curl()] {
      #expect(!text.contains(sentinel) && !text.contains(response) && !text.contains(DigestBench.clientNonce))
    }
  }
}
