import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Credentials that cannot be sent or read")
struct UnusableCredentialsTests {
  private let stub = StubTransport.answering()

  private func error(with authentication: Authentication) async throws -> CallError {
    var client = TestClient()
    client.environment.authentication = authentication
    let error = await failure { try await client.over(stub).send(.ping) }
    #expect(stub.exchanges.isEmpty)
    return try #require(error)
  }

  @Test(
    "A token that would break its field fails the call with invalidRequest, without the token in the error",
    arguments: [
      "\(sentinel)\r\nX-Evil: 1", "\(sentinel)\n", "\(sentinel)\0", " \(sentinel)", "\(sentinel) ", "\(sentinel)\t",
      "\(sentinel)é", "\(sentinel)\u{7F}", "",
    ])
  func malformedTokens(token: String) async throws {
    let store = MemoryCredentialsStore(token: token)
    for authentication in [
      Authentication.bearer(store), .apiKey(store, field: "X-Api-Key"), .apiKey(store, queryParameter: "key"),
    ] {
      let error = try await error(with: authentication)
      #expect(error.code == .invalidRequest)
      #expect(error.requestState == .notSent)
      #expect(error.detail.contains("token"))
      #expect(!texts(of: error).contains(sentinel))
      #expect(!texts(of: error.underlying as Any).contains(sentinel))
    }
  }

  @Test(
    "A name or password that RFC 7617 forbids fails the call with invalidRequest, without the value in the error",
    arguments: [("a:\(sentinel)", "p"), ("\(sentinel)\n", "p"), ("u", "\(sentinel)\u{7F}"), ("u", "\0\(sentinel)")])
  func malformedPasswords(user: String, password: String) async throws {
    let error = try await error(with: .basic(MemoryCredentialsStore(.password(user: user, Secret(password)))))
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
    #expect(!texts(of: error).contains(sentinel))
  }

  @Test(
    "A password of permitted characters is sent, also an empty password", arguments: ["a:b", "", "pässwörd", "a b\"c"])
  func goodPasswords(password: String) async throws {
    var client = TestClient()
    client.environment.authentication = .basic(MemoryCredentialsStore(.password(user: "", Secret(password))))
    try await client.over(stub).send(.ping)
    #expect(stub.exchanges.count == 1)
  }

  @Test("Credentials of the wrong kind fail the call with invalidRequest, and the error names the required kind")
  func wrongKind() async throws {
    let token = try await error(with: .basic(MemoryCredentialsStore(token: sentinel)))
    #expect(token.code == .invalidRequest)
    #expect(token.detail == "basic authentication needs a name and a password")
    let password = MemoryCredentialsStore(.password(user: sentinel, Secret(sentinel)))
    for authentication in [
      Authentication.bearer(password), .apiKey(password, field: "X-K"), .apiKey(password, queryParameter: "k"),
    ] {
      let error = try await error(with: authentication)
      #expect(error.code == .invalidRequest)
      #expect(!texts(of: error).contains(sentinel))
    }
  }

  @Test(
    "An invalid field name fails the call with invalidRequest", arguments: ["", "a b", "Host", "X\r\n"])
  func malformedName(name: String) async throws {
    let error = try await error(with: .apiKey(MemoryCredentialsStore(token: "k"), field: name))
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
  }

  private struct Locked: Error {
    let secret = sentinel
  }

  @Test("A store that throws fails the call with invalidRequest before sending, and no output quotes the store's error")
  func throwingStore() async throws {
    let error = try await error(with: .bearer(FailingStore(Locked())))
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
    #expect(error.phase == .waiting)
    #expect(error.underlying is Locked)
    #expect(error.detail == "the credentials could not be read: Locked")
    #expect(!texts(of: error).contains(sentinel))
  }

  @Test("A CancellationError of the store does not cancel the call")
  func foreignCancellation() async throws {
    let error = try await error(with: .bearer(FailingStore(CancellationError())))
    #expect(error.code == .invalidRequest)
    #expect(!error.isCancellation)
  }

  @Test("A store that throws in a later attempt fails the call with invalidRequest")
  func laterAttempt() async throws {
    let store = OnceStore()
    var client = TestClient()
    client.environment.authentication = .bearer(store)
    client.customize = { $0.insert(Twice {}, .after(.retry)) }
    let error = try #require(await failure { try await client.over(stub).send(.ping) })
    #expect(error.code == .invalidRequest)
    #expect(stub.exchanges.count == 1)
  }

  @Test("The error of a call that the store sends is the cause, but its status is not the status of the waiting call")
  func anotherCall() async throws {
    let tokenServer = StubTransport.answering(.json(#"{"message":"no such account"}"#, status: 403))
    let signIn = TestClient("https://login.example.com").over(tokenServer)
    var client = TestClient()
    client.environment.authentication = .bearer(SignInStore(client: signIn))
    let error = try #require(
      await failure { try await client.over(stub).send(.get("/mine").id("mine", onDuplicate: .allow)) })
    #expect(error.code == .refused)
    #expect(error.id == "mine")
    #expect(error.endpoint.template == "/mine")
    #expect(error.requestState == .notSent)
    #expect(error.status == nil && error.rejection == nil)
    let cause = error.underlying as? CallError
    #expect(cause?.endpoint.template == "/ping" && cause?.status == 403)
    #expect(cause?.errorDescription == "no such account")
    #expect(error.trace.events.contains { $0.kind == .failed(.refused) })
    #expect(stub.exchanges.isEmpty)
  }

  @Test("The cancellation of a call that the store sends does not cancel the waiting call")
  func anotherCallCancelled() async throws {
    let gate = Gate()
    let signIn = TestClient().over(StubTransport.answering(.status(204).waiting(for: gate)))
    var client = TestClient()
    client.environment.authentication = .bearer(SignInStore(client: signIn))
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await gate.waitForArrivals(1)
    signIn.calls.cancelAll()
    let error = try #require(await outcome)
    #expect(!error.isCancellation)
    #expect(error.code == .invalidRequest)
    #expect((error.underlying as? CallError)?.isCancellation == true)
  }

  @Test("A call that is cancelled while its credentials are read sends nothing")
  func cancelledWhileReading() async throws {
    let gate = Gate()
    var client = TestClient()
    client.environment.authentication = .bearer(WaitingStore(gate: gate))
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await gate.waitForArrivals(1)
    api.calls.cancelAll()
    let error = try #require(await outcome)
    #expect(error.code == .cancelled)
    #expect(error.cancellation == .requested)
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }
}

/// A store that can be read twice: when a call is bound, and in its first attempt.
private final class OnceStore: CredentialsStore {
  private let reads = Log<Int>()

  func current() throws -> StoredCredential {
    reads.add(1)
    guard reads.all.count <= 2 else { throw CancellationError() }
    return StoredCredential(.token("t"), generation: 1, principal: 1)
  }

  func set(_ credential: Credential) {}
  func clear() {}
}

/// A store that sends a call to another server when it is read.
private struct SignInStore: CredentialsStore {
  let client: Client

  func current() async throws -> StoredCredential {
    try await client.send(.ping)
    return StoredCredential(nil, generation: 0, principal: 0)
  }

  func set(_ credential: Credential) {}
  func clear() {}
}

/// A store that can be read when the gate opens.
private struct WaitingStore: CredentialsStore {
  let gate: Gate

  func current() async throws -> StoredCredential {
    try await gate.wait()
    return StoredCredential(nil, generation: 0, principal: 0)
  }

  func set(_ credential: Credential) {}
  func clear() {}
}
