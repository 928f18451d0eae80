import Apus
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Scopes of endpoints")
struct ScopeMiddlewareTests {
  private let stub = StubTransport()
  private let events = Log<MissingScopes>()
  private let refreshes = Counter()

  private func client(_ store: MemoryCredentialsStore) -> Client {
    let refreshes = refreshes
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.authentication = .bearer(store) { _ in
      refreshes.add()
      return Tokens(access: "new")
    }
    let scopes = ScopeMiddleware(store, onMissing: events.add)
    configuration.customizePipeline = { $0.insert(scopes, .before(.retry)) }
    return Client(configuration: configuration, transport: stub)
  }

  private func tokens(_ scopes: [String]?) -> Tokens {
    var tokens = Tokens(access: "a", refresh: "r")
    tokens.scopes = scopes
    return tokens
  }

  @Test("Calls whose scopes were not granted are not sent, and reported once until the next sign-in")
  func before() async throws {
    stub.onAny(reply: .json("{}"))
    let store = MemoryCredentialsStore(.tokens(tokens(["a"])))
    let client = client(store)
    for _ in 0..<3 {
      let error = await failure { try await client.send(Request<Void>.get("/films").scopes("a", "films:write")) }
      #expect(error?.code == .refused && (error?.underlying as? MissingScopes)?.scopes == ["films:write"])
    }
    #expect(stub.exchanges.isEmpty && events.all.map(\.scopes) == [["films:write"]])
    store.set(tokens(["a", "b"]))
    _ = await failure { try await client.send(Request<Void>.get("/films").scopes("films:write")) }
    #expect(events.all.count == 2)
    store.set(tokens(["films:write"]))
    try await client.send(Request<Void>.get("/films").scopes("films:write"))
    #expect(stub.exchanges.count == 1 && events.all.count == 2)
  }

  @Test("Calls are sent if the granted scopes are unknown, or if no user is signed in")
  func unknown() async throws {
    stub.onAny(reply: .json("{}"))
    try await client(MemoryCredentialsStore(.tokens(tokens(nil)))).send(Request<Void>.get("/films").scopes("x"))
    try await client(MemoryCredentialsStore()).send(Request<Void>.get("/films").scopes("x"))
    #expect(stub.exchanges.count == 2 && events.all.isEmpty)
  }

  @Test("Scopes that a server requires are reported once, without a refresh")
  func after() async throws {
    stub.onAny(
      reply: .status(
        403, fields: [.wwwAuthenticate: #"Bearer realm="x", error="insufficient_scope", scope="films:write admin""#]))
    let client = client(MemoryCredentialsStore(.tokens(tokens(["a"]))))
    for _ in 0..<3 {
      let error = await failure { try await client.send(Request<Void>.get("/films")) }
      #expect(error?.code == .rejected && error?.status == 403)
    }
    #expect(events.all.map(\.scopes) == [["films:write", "admin"]])
    #expect(events.all.first?.origin?.host == "api.example.com")
    #expect(stub.exchanges.count == 3 && refreshes.value == 0)
  }
}
