import Apus
import ApusTestServer
import Testing

@Suite("11: several servers and environments at once")
struct Capability11EnvironmentsTests {
  @Test("Two concurrent clients send each server its own URLs, tokens and fields")
  func twoClients() async throws {
    try await TestServer.with { _ in
      .status(204)
    } body: { films in
      try await TestServer.with { _ in
        .status(204)
      } body: { friends in
        let filmAPI = films.client(path: "/films") {
          $0.authentication = .bearer(MemoryCredentialsStore(token: "film"))
          $0.setField("X-App", "film")
        }
        let friendAPI = friends.client(path: "/friends") {
          $0.authentication = .bearer(MemoryCredentialsStore(token: "friend"))
          $0.setField("X-App", "friend")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for index in 0..<40 {
            group.addTask { try await (index % 2 == 0 ? filmAPI : friendAPI).send(.get("/\(index)")) }
          }
          try await group.waitForAll()
        }
        for (server, name) in [(films, "film"), (friends, "friend")] {
          #expect(server.exchanges.count == 20)
          #expect(server.exchanges.allSatisfy { $0.target.hasPrefix("/\(name)s/") })
          #expect(server.exchanges.allSatisfy { $0.fields["Authorization"] == "Bearer \(name)" })
          #expect(server.exchanges.allSatisfy { $0.fields["X-App"] == name })
        }
      }
    }
  }

  @Test("A call in flight completes in its environment when the client switches to another environment")
  func switching() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("staging")
    } body: { staging in
      try await TestServer.with { _ in
        .text("production").waiting(for: gate)
      } body: { production in
        var other = Environment("staging", baseURL: BaseURL(stringLiteral: staging.origin))
        other.authentication = .bearer(MemoryCredentialsStore(token: "staging"))
        let api = production.client { $0.authentication = .bearer(MemoryCredentialsStore(token: "production")) }
        async let before = api.send(Request<String>.get("/a"))
        try await gate.waitForArrivals(1)
        api.use(other)
        #expect(api.environment.name == "staging")
        let after = try await api.send(Request<String>.get("/b"))
        gate.open()
        let first = try await before
        #expect(first == "production")
        #expect(after == "staging")
        #expect(production.exchanges.map { $0.fields["Authorization"] } == ["Bearer production"])
        #expect(staging.exchanges.map { $0.fields["Authorization"] } == ["Bearer staging"])
      }
    }
  }
}
