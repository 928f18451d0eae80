import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Rejected credentials")
struct UnauthorizedTests {
  private let stub = StubTransport.answering(.json(#"{"message":"token expired"}"#, status: 401))
  private let tokens = MemoryCredentialsStore(token: "one")
  private let reported = Log<SessionEnd>()

  private func client(_ authentication: Authentication? = nil) -> TestClient {
    var client = TestClient(name: "production")
    client.environment.authentication = authentication ?? .bearer(tokens)
    client.onSessionEnd = reported.add
    return client
  }

  @Test("The end of the session is reported once, and the caller gets the server's rejection")
  func reportedAndThrown() async throws {
    let api = client().over(stub)
    let error = try #require(await failure { try await api.send(.ping.id("first", onDuplicate: .allow)) })
    #expect(error.code == .rejected)
    #expect(error.status == 401)
    #expect(error.errorDescription == "token expired")
    let origin = Origin(scheme: "https", host: "api.example.com", port: 443)
    #expect(reported.all.map(\.origin) == [origin])
    #expect(reported.all.map(\.environment) == ["production"])
    #expect(reported.all.map(\.call) == ["first"])
    #expect(reported.all.map(\.generation) == [0])
    #expect(reported.all.map(\.reason) == [.rejected] && reported.all.map(\.scheme) == ["Bearer"])
    #expect(error.sessionEnd == .rejected && error.isSessionOver)
    #expect(error.trace.events.contains { $0.kind == .credentialsRejected(generation: 0) })
  }

  @Test("Any number of calls rejected with one token make one event, and each call gets its error")
  func oncePerGeneration() async throws {
    let api = client().over(stub)
    let errors = await withTaskGroup(of: CallError?.self) { group in
      for _ in 0..<50 { group.addTask { await failure { try await api.send(.ping) } } }
      return await group.reduce(into: []) { $0.append($1?.code) }
    }
    #expect(errors == Array(repeating: .rejected, count: 50))
    #expect(reported.all.count == 1)
    tokens.set(token: "two")
    _ = await failure { try await api.send(.ping) }
    _ = await failure { try await api.send(.ping) }
    #expect(reported.all.map(\.generation) == [0, 1])
  }

  @Test("After the store was cleared, the first rejection of each session is an event with the reason signedOut")
  func cleared() async throws {
    let stub = StubTransport()
    let handler: StubTransport.Handler = { .status($0.fields[.authorization] == nil ? 401 : 204) }
    stub.on(where: { _, _ in true }, reply: handler)
    let api = client().over(stub)
    for _ in 0..<2 {
      tokens.set(token: "new")
      try await api.send(.ping)
      for _ in 0..<2 {
        tokens.clear()
        let error = await failure { try await api.send(.ping) }
        #expect(error?.sessionEnd == .signedOut && error?.isSessionOver == true)
      }
    }
    #expect(reported.all.map(\.generation) == [1, 4])
    #expect(reported.all.map(\.reason) == [.signedOut, .signedOut])
  }

  @Test("Before any sign-in, a rejection reports no event, and its error has the reason neverSignedIn")
  func neverSignedIn() async throws {
    tokens.clear()
    let api = client(.bearer(MemoryCredentialsStore())).over(stub)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.status == 401 && error.sessionEnd == .neverSignedIn && !error.isSessionOver)
    let required = try #require(await failure { try await api.send(.ping.credentials(.required)) })
    #expect(required.code == .refused && required.sessionEnd == .neverSignedIn && !required.isSessionOver)
    #expect(reported.all.isEmpty)
  }

  @Test("A sign-out is one event, and later rejections are no events")
  func signedOut() async throws {
    let stub = StubTransport.answering()
    let api = client().over(stub)
    try await api.send(.ping)
    try await api.signOut()
    #expect(reported.all.map(\.reason) == [.signedOut] && reported.all.map(\.call) == [nil])
    #expect(reported.all.map(\.environment) == ["production"] && reported.all.map(\.scheme) == ["Bearer"])
    try await api.signOut()
    stub.onAny(reply: .status(401))
    for _ in 0..<2 { #expect(await failure { try await api.send(.ping) }?.sessionEnd == .signedOut) }
    #expect(reported.all.count == 1)
    tokens.set(token: "two")
    #expect(await failure { try await api.send(.ping) }?.sessionEnd == .rejected)
    // The end of this session has been reported.
    try await api.signOut()
    #expect(reported.all.map(\.reason) == [.signedOut, .rejected])
  }

  @Test("A late rejection of a replaced token is no event")
  func lateRejection() async throws {
    let gate = Gate()
    let stub = StubTransport.answering(.status(401).waiting(for: gate))
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await gate.waitForArrivals(1)
    tokens.set(token: "two")
    gate.open()
    let error = await outcome
    #expect(error?.status == 401 && error?.sessionEnd == nil)
    #expect(reported.all.isEmpty)
  }

  @Test("A rejection of a call's own credentials is no event, signed in or out")
  func ownCredentials() async throws {
    let api = client().over(stub)
    _ = await failure { try await api.send(.ping.field("Authorization", "Basic dTpw")) }
    _ = await failure { try await api.send(.ping.credentials(.none)) }
    tokens.clear()
    _ = await failure { try await api.send(.ping.field("Authorization", "Basic dTpw")) }
    #expect(stub.exchanges.count == 3)
    #expect(reported.all.isEmpty)
  }

  @Test("A rejection by a server that does not get the credentials is no event")
  func otherOrigin() async throws {
    var client = client()
    client.customize = { $0.insert(SendElsewhere(scheme: "https", authority: "other.test"), .after(.redirects)) }
    _ = await failure { try await client.over(stub).send(.ping) }
    #expect(stub.exchanges.count == 1)
    #expect(reported.all.isEmpty)
  }

  @Test("Error statuses other than 401 are no events", arguments: [400, 402, 403, 404, 407, 500])
  func otherStatuses(status: Int) async throws {
    let stub = StubTransport.answering(.status(status))
    _ = await failure { try await client().over(stub).send(.ping) }
    #expect(reported.all.isEmpty)
  }

  @Test("Two accounts on one server have an event each")
  func twoAccounts() async throws {
    let api = client().over(stub)
    _ = await failure { try await api.send(.ping) }
    var other = Environment("second", baseURL: "https://api.example.com/v1")
    other.authentication = .bearer(MemoryCredentialsStore(token: "other"))
    api.use(other)
    _ = await failure { try await api.send(.ping) }
    #expect(reported.all.map(\.environment) == ["production", "second"])
  }

  @Test("The rejection of a streamed call is an event")
  func streamed() async throws {
    let api = client().over(stub)
    let error = await failure { try await api.withResponse(to: .ping) { _ in } }
    #expect(error?.status == 401)
    #expect(reported.all.count == 1)
  }
}
