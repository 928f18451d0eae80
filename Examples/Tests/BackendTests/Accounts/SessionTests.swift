import Backend
import Testing

@Suite struct SessionTests {
  @Test func `signing in gives tokens that no cache may keep`() async throws {
    try await withBackend(.testing { $0.tokenLifetime = .milliseconds(1500) }) { _, client in
      _ = try await client.signIn()
      let answer = try await client.post("/sessions", #"{"email": "ann@example.com", "password": "12345678"}"#)
      #expect(answer.status == 201)
      #expect(answer["cache-control"] == "no-store")
      let tokens = try answer.json()
      #expect(tokens.names == ["access_token", "refresh_token", "expires_in", "token_type"])
      #expect(tokens["expires_in"]?.double == 1.5)
      #expect(tokens["token_type"] == .string("Bearer"))
      #expect(tokens["access_token"]?.string?.count == 43)
    }
  }

  @Test func `an access token is good until its time is over, fractions included`() async throws {
    let clock = ManualClock()
    let configure = { (options: inout Backend.Options) in
      options.tokenLifetime = .milliseconds(1500)
      options.now = { clock.now }
    }
    try await withBackend(.testing(configure)) { _, client in
      let tokens = try await client.signIn()
      clock.advance(by: .milliseconds(1400))
      #expect(try await client.get("/accounts/me", token: tokens.access).status == 200)
      clock.advance(by: .milliseconds(100))
      let answer = try await client.get("/accounts/me", token: tokens.access)
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
      #expect(answer["www-authenticate"]?.contains("expired") == true)
      #expect(answer["content-type"] == "application/problem+json")
    }
  }

  @Test func `refreshing gives new tokens, and the access token before goes on`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let answer = try await client.post("/sessions/refresh", #"{"refresh_token": "\#(old.refresh)"}"#)
      #expect(answer.status == 200)
      let new = try SignedIn(answer.json())
      #expect(new.access != old.access)
      #expect(new.refresh != old.refresh)
      #expect(try await client.get("/accounts/me", token: new.access).status == 200)
      #expect(try await client.get("/accounts/me", token: old.access).status == 200)
    }
  }

  @Test func `a refresh token used twice is refused and ends its session, but no other`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let other = try await client.signIn()
      let refresh = #"{"refresh_token": "\#(old.refresh)"}"#
      let new = try SignedIn(try await client.post("/sessions/refresh", refresh).json())
      let again = try await client.post("/sessions/refresh", refresh)
      #expect(again.status == 401)
      #expect(again["content-type"] == "application/problem+json")
      #expect(again["www-authenticate"]?.contains("used before") == true)
      #expect(try await client.get("/accounts/me", token: new.access).status == 401)
      #expect(try await client.post("/sessions/refresh", #"{"refresh_token": "\#(new.refresh)"}"#).status == 401)
      #expect(try await client.get("/accounts/me", token: other.access).status == 200)
    }
  }

  @Test func `of many refreshes with one token exactly one succeeds`() async throws {
    try await withBackend { _, client in
      let refresh = #"{"refresh_token": "\#(try await client.signIn().refresh)"}"#
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<10 { group.addTask { try await client.post("/sessions/refresh", refresh).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 401 } == 9)
    }
  }

  @Test func `signing out voids both tokens`() async throws {
    try await withBackend { _, client in
      let tokens = try await client.signIn()
      #expect(try await client.send("DELETE", "/sessions", token: tokens.access).status == 204)
      #expect(try await client.get("/accounts/me", token: tokens.access).status == 401)
      #expect(try await client.post("/sessions/refresh", #"{"refresh_token": "\#(tokens.refresh)"}"#).status == 401)
    }
  }

  @Test func `without a token the challenge names no error`() async throws {
    try await withBackend(.testing { $0.name = "staging" }) { _, client in
      let answer = try await client.get("/accounts/me")
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"] == #"Bearer realm="staging""#)
    }
  }

  @Test(arguments: ["Basic YTpi", "Bearer", "Bearer a b", "bearer unknown"])
  func `credentials of another kind, or of nobody, are refused`(authorization: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.send("GET", "/accounts/me", fields: ["Authorization: \(authorization)"])
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"]?.contains("invalid_token") == true)
    }
  }
}
