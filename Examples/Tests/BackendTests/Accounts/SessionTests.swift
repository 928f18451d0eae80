import Backend
import Testing

@Suite struct SessionTests {
  @Test func `A sign-in issues tokens that must not be cached`() async throws {
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

  @Test func `An access token is valid until the end of its lifetime, fractions included`() async throws {
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

  @Test func `The lifetime can be omitted from responses`() async throws {
    try await withBackend(.testing { $0.sendsTokenLifetime = false }) { _, client in
      let tokens = try await client.signIn()
      let answer = try await client.refresh(tokens.refresh)
      #expect(try answer.json().names == ["access_token", "refresh_token", "token_type"])
    }
  }

  @Test func `Without a token the challenge has no error code`() async throws {
    try await withBackend(.testing { $0.name = "staging" }) { _, client in
      let answer = try await client.get("/accounts/me")
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"] == #"Bearer realm="staging""#)
    }
  }

  @Test(arguments: ["Basic YTpi", "Bearer", "Bearer a b", "bearer unknown"])
  func `Other and unknown credentials are rejected`(authorization: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.send("GET", "/accounts/me", fields: ["Authorization: \(authorization)"])
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"]?.contains("invalid_token") == true)
    }
  }
}
