import Backend
import Testing

@Suite struct IdempotencyKeyTests {
  private func add(_ name: String, key: String?, _ token: String, _ client: TestClient) async throws -> Answer {
    try await client.send(
      "POST", "/friends", json: #"{"name": "\#(name)"}"#, token: token,
      fields: key.map { ["Idempotency-Key: \($0)"] } ?? [])
  }

  private func names(_ token: String, _ client: TestClient) async throws -> [String] {
    try await client.get("/friends", token: token).json()["items"]?.items.compactMap { $0["name"]?.string } ?? []
  }

  @Test func `Repeated requests with a key add one friend and get the same response`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let first = try await add("Zoe", key: "k1", token, client)
      let second = try await add("Zoe", key: "k1", token, client)
      #expect(first.status == 201)
      #expect(second.status == 201)
      #expect(second.text == first.text)
      #expect(second["location"] == first["location"])
      #expect(try await names(token, client) == ["Zoe"])
    }
  }

  @Test func `Requests with different keys or without a key each add a friend`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      for key in ["k1", "k2", nil, nil] { _ = try await add("Zoe", key: key, token, client) }
      #expect(try await names(token, client) == ["Zoe", "Zoe", "Zoe", "Zoe"])
    }
  }

  @Test func `A key reused for another friend is rejected`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      _ = try await add("Zoe", key: "k1", token, client)
      let other = try await add("Yan", key: "k1", token, client)
      #expect(other.status == 422)
      #expect(other["content-type"] == "application/problem+json")
      #expect(try await names(token, client) == ["Zoe"])
    }
  }

  @Test func `The idempotency key of a rejected form can be used again`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      #expect(try await add("", key: "k1", token, client).status == 422)
      #expect(try await add("Zoe", key: "k1", token, client).status == 201)
    }
  }

  @Test func `Concurrent requests with a key add one friend`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let answers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await add("Zoe", key: "k1", token, client).text } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(answers.count == 1)
      #expect(try await names(token, client) == ["Zoe"])
    }
  }

  @Test func `A removed friend is not added again by the same key`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      let first = try await add("Zoe", key: "k1", token, client)
      _ = try await client.send("DELETE", try #require(first["location"]), token: token)
      #expect(try await add("Zoe", key: "k1", token, client).text == first.text)
      #expect(try await names(token, client).isEmpty)
    }
  }

  @Test func `Accounts have separate keys`() async throws {
    try await withBackend { _, client in
      let ann = try await client.signIn().access
      let bob = try await client.signIn(name: "Bob", email: "bob@example.com").access
      let (hers, his) = (try await add("Zoe", key: "k1", ann, client), try await add("Zoe", key: "k1", bob, client))
      #expect(hers.text != his.text)
      #expect(try await names(bob, client) == ["Zoe"])
    }
  }

  @Test func `Keys expire after a day`() async throws {
    let clock = ManualClock()
    try await withBackend(.testing { $0.now = { clock.now } }) { _, client in
      _ = try await add("Zoe", key: "k1", try await client.signIn().access, client)
      clock.advance(by: .seconds(24 * 3600 - 1))
      let token = try await client.signIn().access
      _ = try await add("Zoe", key: "k1", token, client)
      #expect(try await names(token, client) == ["Zoe"])
      clock.advance(by: .seconds(1))
      _ = try await add("Zoe", key: "k1", token, client)
      #expect(try await names(token, client) == ["Zoe", "Zoe"])
    }
  }

  @Test(arguments: ["", "a b", "a,\tb", String(repeating: "k", count: 256)])
  func `An invalid key is rejected`(key: String) async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      #expect(try await add("Zoe", key: key, token, client).status == 400)
      #expect(try await names(token, client).isEmpty)
    }
  }
}
