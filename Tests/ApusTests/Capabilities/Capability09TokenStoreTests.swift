import Apus
import ApusTestServer
import Testing

@Suite("9: a store for the token")
struct Capability09TokenStoreTests {
  @Test("After a token is set, the next call carries the token; after its deletion, the next call carries no token")
  func setAndDelete() async throws {
    let tokens = MemoryCredentialsStore()
    try await TestServer.with { _ in
      .status(204)
    } body: { server in
      let api = server.client { $0.authentication = .bearer(tokens) }
      try await api.send(.ping)
      tokens.set(token: "one")
      #expect(tokens.current().credential == .token("one"))
      try await api.send(.ping)
      tokens.clear()
      #expect(tokens.current().credential == nil)
      try await api.send(.ping)
      #expect(server.exchanges.map { $0.fields["Authorization"] } == [nil, "Bearer one", nil])
    }
  }

  @Test("A redirect to another origin is followed without the token")
  func redirect() async throws {
    try await TestServer.with { _ in
      .status(204)
    } body: { other in
      let target = other.origin
      try await TestServer.with { _ in
        .status(302, fields: ["Location": target + "/elsewhere"])
      } body: { server in
        let api = server.client { $0.authentication = .bearer(MemoryCredentialsStore(token: "secret")) }
        try await api.send(.ping)
        #expect(server.exchanges.map { $0.fields["Authorization"] } == ["Bearer secret"])
        #expect(other.exchanges.map(\.target) == ["/elsewhere"])
        #expect(other.exchanges.allSatisfy { $0.fields["Authorization"] == nil })
      }
    }
  }
}
