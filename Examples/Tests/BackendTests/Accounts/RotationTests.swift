import Backend
import Testing

@Suite struct RotationTests {
  @Test func `A refresh issues new tokens, and the old access token stays valid`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let answer = try await client.refresh(old.refresh)
      #expect(answer.status == 200)
      #expect(answer["cache-control"] == "no-store")
      #expect(try answer.json()["expires_in"]?.double == 3600)
      let new = try SignedIn(answer.json())
      #expect(new.access != old.access)
      #expect(new.refresh != old.refresh)
      #expect(try await client.status(with: new.access) == 200)
      #expect(try await client.status(with: old.access) == 200)
    }
  }

  @Test func `A client that lost its new tokens gets other tokens, and the lost tokens are revoked`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let lost = try await client.refreshed(old)
      let new = try await client.refreshed(old)
      #expect(try await client.status(with: lost.access) == 401)
      #expect(try await client.refresh(lost.refresh).status == 400)
      #expect(try await client.status(with: new.access) == 200)
      #expect(try await client.refresh(new.refresh).status == 200)
    }
  }

  @Test func `A refresh token reused after its successor was used ends its session only`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let other = try await client.signIn()
      let new = try await client.refreshed(old)
      #expect(try await client.status(with: new.access) == 200)
      let again = try await client.refresh(old.refresh)
      #expect(again.status == 400)
      #expect(again["content-type"] == "application/problem+json")
      let problem = try again.json()
      #expect(problem["error"] == .string("invalid_grant"))
      #expect(problem["detail"]?.string?.contains("used twice") == true)
      #expect(try await client.status(with: new.access) == 401)
      #expect(try await client.refresh(new.refresh).status == 400)
      #expect(try await client.status(with: other.access) == 200)
    }
  }

  @Test func `A refresh is recorded as a use of its token pair`() async throws {
    try await withBackend { _, client in
      let first = try await client.signIn()
      let second = try await client.refreshed(first)
      let third = try await client.refreshed(second)
      #expect(try await client.refresh(first.refresh).status == 400)
      #expect(try await client.status(with: third.access) == 401)
    }
  }

  @Test func `The use of an expired access token is recorded`() async throws {
    let clock = ManualClock()
    try await withBackend(.testing { $0.now = { clock.now } }) { _, client in
      let old = try await client.signIn()
      let new = try await client.refreshed(old)
      clock.advance(by: .seconds(3600))
      #expect(try await client.status(with: new.access) == 401)
      #expect(try await client.refresh(old.refresh).status == 400)
      #expect(try await client.refresh(new.refresh).status == 400)
    }
  }

  @Test func `Of the pairs from concurrent refreshes with one token, one is valid`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let given: [SignedIn] = try await withThrowingTaskGroup(of: SignedIn.self) { group in
        for _ in 0..<10 { group.addTask { try await client.refreshed(old) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(given.map(\.refresh)).count == 10)
      var statuses: [Int] = []
      for tokens in given { statuses.append(try await client.status(with: tokens.access)) }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 401 } == 9)
    }
  }

  @Test func `A session expires without a refresh`() async throws {
    let clock = ManualClock()
    let configure = { (options: inout Backend.Options) in
      options.sessionLifetime = .seconds(7200)
      options.now = { clock.now }
    }
    try await withBackend(.testing(configure)) { _, client in
      var tokens = try await client.signIn()
      for _ in 0..<3 {
        clock.advance(by: .seconds(7199))
        tokens = try await client.refreshed(tokens)
      }
      clock.advance(by: .seconds(7200))
      let answer = try await client.refresh(tokens.refresh)
      #expect(answer.status == 400)
      #expect(try answer.json()["error"] == .string("invalid_grant"))
      #expect(try answer.json()["detail"]?.string?.contains("expired") == true)
    }
  }

  @Test func `An unknown refresh token is rejected`() async throws {
    try await withBackend { _, client in
      let answer = try await client.refresh("x")
      #expect(answer.status == 400)
      #expect(try answer.json()["error"] == .string("invalid_grant"))
      #expect(try await client.post("/sessions/refresh", "{}").status == 422)
    }
  }

  @Test func `The log has all refreshes, successful or rejected`() async throws {
    try await withBackend { backend, client in
      var tokens = try await client.signIn()
      for _ in 0..<3 { tokens = try await client.refreshed(tokens) }
      _ = try await client.refresh("x")
      let rows = backend.log.rows { $0.path == "/sessions/refresh" }
      #expect(rows.map(\.status) == [200, 200, 200, 400])
      #expect(rows.map(\.account) == [1, 1, 1, nil])
    }
  }
}
