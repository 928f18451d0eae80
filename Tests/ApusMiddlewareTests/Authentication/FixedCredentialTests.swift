import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Static tokens and keys")
struct FixedCredentialTests {
  private let stub = StubTransport.answering()
  private let ends = Log<SessionEnd.Reason>()

  private func client(_ authentications: Authentication...) -> Client {
    var client = TestClient()
    client.onSessionEnd = { [ends] in ends.add($0.reason) }
    client.environment.authentications = authentications
    return client.over(stub)
  }

  @Test("A token, a key, and a user with a password are sent without a store, from literals and from variables")
  func sent() async throws {
    let token = "mF_9.B5f-4.1JqM"
    try await client(.bearer(token), .apiKey("k3y", field: "X-Api-Key")).send(.ping)
    try await client(.apiKey("k3y", queryParameter: "key"), .basic(user: "ada", password: "pw")).send(.ping)
    try await client(.bearer("literal")).send(.ping)
    #expect(
      stub.exchanges.map { $0.fields[.authorization] } == [
        "Bearer mF_9.B5f-4.1JqM", "Basic YWRhOnB3", "Bearer literal",
      ])
    #expect(stub.exchanges.first?.fields[.apiKey] == "k3y")
    #expect(stub.exchanges.map(\.request.target) == ["/v1/ping", "/v1/ping?key=k3y", "/v1/ping"])
  }

  @Test("Static credentials are sent to their origins only")
  func origins() async throws {
    let other = Origin(scheme: "https", host: "files.example.com", port: 443)
    let api = client(.bearer("t", origins: [other]))
    try await api.send(.ping)
    try await api.send(Request<Void>.get(.url("https://files.example.com/7")))
    #expect(stub.exchanges.map { $0.fields[.authorization] } == [nil, "Bearer t"])
  }

  @Test("A sign-out does not remove static credentials, and reports no end of a session for them")
  func signOut() async throws {
    let tokens = MemoryCredentialsStore(token: "session")
    let api = client(.bearer(tokens), .apiKey("k3y", field: "X-Api-Key"))
    try await api.send(.ping)
    try await api.signOut()
    #expect(ends.all == [.signedOut])
    try await api.send(.ping)
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer session", nil])
    #expect(stub.exchanges.map { $0.fields[.apiKey] } == ["k3y", "k3y"])
  }

  @Test("The rejection of a static token is reported once")
  func rejected() async throws {
    stub.onAny(reply: .status(401))
    let api = client(.bearer("t"))
    for _ in 0..<2 { #expect(await failure { try await api.send(.ping) }?.sessionEnd == .rejected) }
    #expect(ends.all == [.rejected])
  }

  @Test("Static credentials are masked in all output")
  func masked() {
    let authentications = [
      Authentication.bearer(sentinel), .apiKey(sentinel, field: "X-Api-Key"), .apiKey(sentinel, queryParameter: "key"),
      .basic(user: sentinel, password: sentinel),
    ]
    for authentication in authentications {
      var dumped = ""
      dump(authentication, to: &dumped)
      #expect(!dumped.contains(sentinel) && !"\(authentication)".contains(sentinel))
      #expect(!String(reflecting: authentication).contains(sentinel))
    }
  }
}

extension HTTPField.Name {
  fileprivate static let apiKey = HTTPField.Name("X-Api-Key") ?? .authorization
}
