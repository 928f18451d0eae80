import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusMiddleware

@Suite("Authentication: several in one client")
struct SeveralAuthenticationsTests {
  private let ping = Request<String>.get("/ping")
  private let tokens = MemoryCredentialsStore(token: "t0ken")
  private let key = MemoryCredentialsStore(token: "k3y")
  private let operators = MemoryCredentialsStore(.password(user: "op", "p"))
  private let events = Log<SessionEnd>()

  private func client(_ stub: StubTransport, _ authentications: [Authentication]) -> Client {
    var client = TestClient()
    client.environment.authentications = authentications
    client.onSessionEnd = events.add
    return client.over(stub)
  }

  /// Returns a server that requires a name and a password below `/ops` and a token elsewhere, and sends challenges.
  private func server() -> StubTransport {
    let stub = StubTransport()
    let handler: StubTransport.Handler = { exchange in
      let isOps = exchange.target.hasPrefix("/v1/ops/")
      let wanted = isOps ? "Basic b3A6cA==" : "Bearer t0ken"
      if exchange.fields[.authorization] == wanted { return .text("ok") }
      var fields = HTTPFields()
      fields[.wwwAuthenticate] = isOps ? #"Basic realm="operations", charset="UTF-8""# : #"Bearer realm="app""#
      return .status(401, fields: fields)
    }
    stub.on(where: { _, _ in true }, reply: handler)
    return stub
  }

  @Test("Credentials with different locations are sent together; with a common location, only the first are sent")
  func locations() async throws {
    let stub = StubTransport.answering()
    let api = client(stub, [.bearer(tokens), .apiKey(key, field: "X-Api-Key"), .basic(operators)])
    try await api.send(Request<Void>.get("/"))
    let fields = try #require(stub.exchanges.first?.fields)
    #expect(fields[.authorization] == "Bearer t0ken")
    #expect(fields[text: "X-Api-Key"] == "k3y")
  }

  @Test("After a sign-out of the first authentication, the second authentication uses the common location")
  func signedOutOfFirst() async throws {
    let stub = StubTransport.answering()
    tokens.clear()
    try await client(stub, [.bearer(tokens), .basic(operators)]).send(Request<Void>.get("/"))
    #expect(stub.exchanges.first?.fields[.authorization] == "Basic b3A6cA==")
  }

  @Test("Each authentication is used for its own origins only")
  func origins() async throws {
    let stub = StubTransport.answering()
    let here = try #require(Origin(scheme: "https", authority: "api.example.com"))
    let there = try #require(Origin(scheme: "https", authority: "other.example"))
    let api = client(
      stub, [.bearer(tokens, origins: [there]), .apiKey(key, field: "X-Api-Key", origins: [here, there])])
    try await api.send(Request<Void>.get("/"))
    #expect(stub.exchanges.first?.fields[.authorization] == nil)
    #expect(stub.exchanges.first?.fields[text: "X-Api-Key"] == "k3y")
  }

  @Test("A challenge is answered by scheme and realm; later messages of its protection space answer it in advance")
  func realms() async throws {
    let stub = server()
    let wrong = MemoryCredentialsStore(.password(user: "other", "x"))
    let api = client(
      stub, [.bearer(tokens), .basic(wrong, realm: "accounting"), .basic(operators, realm: "operations")])
    for request in [Request<String>.get("/ops/a"), .get("/ops/b"), .get("/ping"), .get("/ops/c")] {
      _ = try await api.send(request)
    }
    #expect(
      stub.exchanges.map { $0.fields[.authorization] } == [
        "Bearer t0ken", "Basic b3A6cA==", "Basic b3A6cA==", "Bearer t0ken", "Basic b3A6cA==",
      ])
    #expect(events.all.isEmpty)
  }

  @Test("Credentials for a realm are not sent to a server that does not name the realm")
  func otherRealm() async throws {
    let stub = StubTransport.answering(.status(401))
    let api = client(stub, [.basic(operators, realm: "operations")])
    #expect(await failure { try await api.send(ping) }?.status == 401)
    #expect(stub.exchanges.map { $0.fields[.authorization] } == [nil])
    #expect(events.all.isEmpty)
  }

  @Test("A challenge is answered with the account that the call began with, or not at all", arguments: [false, true])
  func signedOutBetween(isOther: Bool) async throws {
    let stub = StubTransport()
    let gate = Gate()
    var fields = HTTPFields()
    fields[.wwwAuthenticate] = #"Basic realm="operations""#
    stub.on(.get, "/v1/ping", replies: [.status(401, fields: fields).waiting(for: gate), .text("ok")])
    let api = client(stub, [.basic(operators, realm: "operations")])
    let call = Task { await failure { try await api.send(ping) } }
    try await gate.waitForArrivals(1)
    if isOther { operators.set(.password(user: "other", "p")) } else { try await api.signOut() }
    gate.open()
    let error = await call.value
    #expect(error?.code == .refused && error?.underlying is PrincipalChangedError && error?.requestState == .responded)
    #expect(stub.exchanges.map { $0.fields[.authorization] } == [nil])
  }

  @Test("A challenge whose answer was rejected is not answered in advance")
  func notLearned() async throws {
    let stub = server()
    operators.set(.password(user: "op", "wrong"))
    let api = client(stub, [.bearer(tokens), .basic(operators, realm: "operations")])
    for _ in 0..<2 { #expect(await failure { try await api.send(Request<String>.get("/ops/a")) }?.status == 401) }
    let authorizations = stub.exchanges.map { $0.fields[.authorization] }
    #expect(authorizations.count == 4 && authorizations[0] == authorizations[2])
    #expect(events.all.map(\.generation) == [operators.current().generation])
  }

  @Test("Unreadable credentials do not fail a call if the server does not ask for them")
  func unreadableSpare() async throws {
    let stub = StubTransport.answering()
    let stuck = StuckStore()
    stuck.isReadable.withLock { $0 = false }
    let api = client(stub, [.bearer(tokens), .basic(stuck, realm: "operations")])
    try await api.send(Request<Void>.get("/"))
    #expect(stub.exchanges.first?.fields[.authorization] == "Bearer t0ken")
  }

  @Test("A rejection is reported for the authentication that the challenge concerns")
  func reported() async throws {
    let stub = StubTransport()
    var fields = HTTPFields()
    fields[.wwwAuthenticate] = "Bearer"
    stub.onAny(reply: .status(401, fields: fields))
    tokens.set(token: "old")
    let api = client(stub, [.apiKey(key, field: "X-Api-Key"), .bearer(tokens)])
    #expect(await failure { try await api.send(ping) }?.status == 401)
    #expect(events.all.map(\.generation) == [tokens.current().generation])
  }

  @Test("Content that can be read only once is not resent after a challenge, and the error states the reason")
  func onceOnly() async throws {
    let stub = server()
    let api = client(stub, [.basic(operators, realm: "operations")])
    let post = { Request<String>.post("/ops/x", content: .stream(ContentStream(isReplayable: false) { { nil } })) }
    let error = await failure { try await api.send(post()) }
    #expect(error?.code == .invalidRequest && error?.requestState == .responded)
    #expect(error?.detail.contains("can be read only once") == true)
    // The next call answers the challenge in advance.
    let text = try await api.send(post())
    #expect(text == "ok")
  }

  @Test("A sign-out clears the stores of all authentications, even if the clearing of one store fails")
  func signingOut() async throws {
    let stub = StubTransport.answering()
    let stuck = StuckStore()
    let api = client(
      stub,
      [.bearer(tokens), .scheme(APIKeyScheme(location: .field("X-Stuck")), stuck), .apiKey(key, field: "X-Api-Key")])
    await #expect(throws: StuckStore.Stuck.self) { try await api.signOut() }
    #expect(tokens.current().credential == nil && key.current().credential == nil)
    let error = await failure { try await api.send(Request<Void>.get("/").credentials(.required)) }
    #expect(error == nil)
    stuck.credential.withLock { $0 = nil }
    let refused = await failure { try await api.send(Request<Void>.get("/").credentials(.required)) }
    #expect(refused?.code == .refused)
  }

  @Test("A call that requires credentials is refused in an environment without authentications")
  func withoutAuthentications() async throws {
    let stub = StubTransport.answering()
    let error = await failure { try await client(stub, []).send(Request<Void>.get("/").credentials(.required)) }
    #expect(error?.code == .refused && error?.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("403 causes neither a refresh nor a message with other credentials")
  func forbidden() async throws {
    let stub = StubTransport()
    var fields = HTTPFields()
    fields[.wwwAuthenticate] = #"Bearer error="insufficient_scope""#
    stub.onAny(reply: .status(403, fields: fields))
    let store = MemoryCredentialsStore(.tokens(Tokens(access: "a", refresh: "r")))
    let api = client(stub, [.bearer(store) { _ in Tokens(access: "b") }, .basic(operators)])
    #expect(await failure { try await api.send(ping) }?.status == 403)
    #expect(stub.exchanges.count == 1 && store.current().generation == 0)
  }

  @Test("A custom scheme signs with two fields, and the signature is masked")
  func custom() async throws {
    let stub = StubTransport.answering()
    let api = client(stub, [.scheme(SigningScheme(), key)])
    try await api.send(Request<Void>.get("/x"))
    let fields = try #require(stub.exchanges.first?.fields)
    #expect(fields[text: "X-Signer"] == "me" && fields[text: "X-Signature"] == "GET /v1/x k3y")
    let message = try await api.message(for: Request<Void>.get("/x"))
    #expect(!message.curl().contains("k3y"))
  }
}

/// A scheme with a signer and a signature.
private struct SigningScheme: AuthenticationScheme {
  var name: String? { nil }
  var locations: [CredentialLocation] { [.field("X-Signer"), .field("X-Signature")] }

  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .token(let key) = credential else { return false }
    try request.addField(RawField("X-Signer", "me"))
    let signature = "\(request.head.method) \(request.target) \(key.value)"
    try request.addField(RawField("X-Signature", signature, isSensitive: true))
    return true
  }
}

/// A store that cannot be cleared, and may be unreadable.
private final class StuckStore: CredentialsStore {
  struct Stuck: Error {}

  let credential = Mutex<Credential?>(.token("stuck"))
  let isReadable = Mutex(true)

  func current() throws -> StoredCredential {
    guard isReadable.withLock({ $0 }) else { throw Stuck() }
    return StoredCredential(credential.withLock { $0 }, generation: 1, principal: 1)
  }
  func set(_ credential: Credential) {}
  func clear() throws { throw Stuck() }
}
