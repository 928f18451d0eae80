import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Credentials that a server refuses")
struct UnauthorizedTests {
  private let stub = StubTransport.answering(.json(#"{"message":"token expired"}"#, status: 401))
  private let tokens = MemoryCredentials(token: "one")
  private let told = Log<SessionEnd>()

  private func client(_ authentication: Authentication? = nil) -> TestClient {
    var client = TestClient(name: "production")
    client.environment.authentication = authentication ?? .bearer(tokens)
    client.onSessionEnd = told.add
    return client
  }

  @Test("the app is told at one place, and the caller gets the server's refusal all the same")
  func toldAndThrown() async throws {
    let api = client().over(stub)
    let error = try #require(await failure { try await api.send(.ping.id("first", whenRunning: .allow)) })
    #expect(error.code == .rejected)
    #expect(error.status == 401)
    #expect(error.errorDescription == "token expired")
    let origin = Origin(scheme: "https", host: "api.example.com", port: 443)
    #expect(told.all.map(\.origin) == [origin])
    #expect(told.all.map(\.environment) == ["production"])
    #expect(told.all.map(\.call) == ["first"])
    #expect(told.all.map(\.generation) == [0])
    #expect(told.all.map(\.reason) == [.refused] && told.all.map(\.scheme) == ["Bearer"])
    #expect(error.sessionEnd == .refused && error.isSessionOver)
    #expect(error.trace.events.contains { $0.kind == .unauthorized(generation: 0) })
  }

  @Test("any number of calls refused with one token make one event, and each gets its error")
  func oncePerGeneration() async throws {
    let api = client().over(stub)
    let errors = await withTaskGroup(of: CallError?.self) { group in
      for _ in 0..<50 { group.addTask { await failure { try await api.send(.ping) } } }
      return await group.reduce(into: []) { $0.append($1?.code) }
    }
    #expect(errors == Array(repeating: .rejected, count: 50))
    #expect(told.all.count == 1)
    tokens.set(token: "two")
    _ = await failure { try await api.send(.ping) }
    _ = await failure { try await api.send(.ping) }
    #expect(told.all.map(\.generation) == [0, 1])
  }

  @Test("where the source was cleared, the first refusal is an event that says so, each time anew")
  func cleared() async throws {
    let stub = StubTransport()
    let answering: StubTransport.Answering = { .status($0.fields[.authorization] == nil ? 401 : 204) }
    stub.on(where: { _, _ in true }, answer: answering)
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
    #expect(told.all.map(\.generation) == [1, 4])
    #expect(told.all.map(\.reason) == [.signedOut, .signedOut])
  }

  @Test("where nobody has ever been signed in, a refusal is no event, and its error says so")
  func neverSignedIn() async throws {
    tokens.clear()
    let api = client(.bearer(MemoryCredentials())).over(stub)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.status == 401 && error.sessionEnd == .neverSignedIn && !error.isSessionOver)
    let required = try #require(await failure { try await api.send(.ping.credentials(.required)) })
    #expect(required.code == .declined && required.sessionEnd == .neverSignedIn && !required.isSessionOver)
    #expect(told.all.isEmpty)
  }

  @Test("signing out is one event, at once, and refusals that follow are none")
  func signedOut() async throws {
    let stub = StubTransport.answering()
    let api = client().over(stub)
    try await api.send(.ping)
    try await api.signOut()
    #expect(told.all.map(\.reason) == [.signedOut] && told.all.map(\.call) == [nil])
    #expect(told.all.map(\.environment) == ["production"] && told.all.map(\.scheme) == ["Bearer"])
    try await api.signOut()
    stub.onAny(answer: .status(401))
    for _ in 0..<2 { #expect(await failure { try await api.send(.ping) }?.sessionEnd == .signedOut) }
    #expect(told.all.count == 1)
    tokens.set(token: "two")
    #expect(await failure { try await api.send(.ping) }?.sessionEnd == .refused)
    // Its end has been told.
    try await api.signOut()
    #expect(told.all.map(\.reason) == [.signedOut, .refused])
  }

  @Test("a late refusal of a token that was replaced meanwhile is no event")
  func lateRefusal() async throws {
    let gate = Gate()
    let stub = StubTransport.answering(.status(401).waiting(for: gate))
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await gate.waitForArrivals(1)
    tokens.set(token: "two")
    gate.open()
    let error = await outcome
    #expect(error?.status == 401 && error?.sessionEnd == nil)
    #expect(told.all.isEmpty)
  }

  @Test("what a server thinks of a call's own credentials is no event, signed in or out")
  func ownCredentials() async throws {
    let api = client().over(stub)
    _ = await failure { try await api.send(.ping.field("Authorization", "Basic dTpw")) }
    _ = await failure { try await api.send(.ping.credentials(.none)) }
    tokens.clear()
    _ = await failure { try await api.send(.ping.field("Authorization", "Basic dTpw")) }
    #expect(stub.exchanges.count == 3)
    #expect(told.all.isEmpty)
  }

  @Test("the refusal of a server that is not shown the credentials is no event")
  func otherOrigin() async throws {
    var client = client()
    client.customize = { $0.insert(SendElsewhere(scheme: "https", authority: "other.test"), .after(.redirects)) }
    _ = await failure { try await client.over(stub).send(.ping) }
    #expect(stub.exchanges.count == 1)
    #expect(told.all.isEmpty)
  }

  @Test("other refusals are no events", arguments: [400, 402, 403, 404, 407, 500])
  func otherStatuses(status: Int) async throws {
    let stub = StubTransport.answering(.status(status))
    _ = await failure { try await client().over(stub).send(.ping) }
    #expect(told.all.isEmpty)
  }

  @Test("two accounts on one server have an event each")
  func twoAccounts() async throws {
    let api = client().over(stub)
    _ = await failure { try await api.send(.ping) }
    var other = Environment("second", baseURL: "https://api.example.com/v1")
    other.authentication = .bearer(MemoryCredentials(token: "other"))
    api.use(other)
    _ = await failure { try await api.send(.ping) }
    #expect(told.all.map(\.environment) == ["production", "second"])
  }

  @Test("a streamed call's refusal is an event too")
  func streamed() async throws {
    let api = client().over(stub)
    let error = await failure { try await api.withResponse(to: .ping) { _ in } }
    #expect(error?.status == 401)
    #expect(told.all.count == 1)
  }
}
