import Backend
import Testing

@Suite struct TokenTests {
  private func expectError(_ code: String, _ answer: Answer) throws {
    #expect(answer.status == 400)
    #expect(answer["content-type"] == "application/json")
    #expect(answer["cache-control"] == "no-store")
    #expect(try answer.json()["error"] == .string(code))
  }

  @Test func `A code is exchanged for tokens of its user`() async throws {
    try await withBackend { backend, client in
      let page = SignInPage(client: client)
      let answer = try await page.exchange(try await page.code())
      #expect(answer.status == 200)
      #expect(answer["cache-control"] == "no-store")
      let json = try answer.json()
      #expect(json["token_type"] == .string("Bearer") && json["expires_in"]?.double == 3600)
      let account = try await client.get("/accounts/me", token: try SignedIn(json).access)
      #expect(try account.json()["email"] == .string("ann@example.com"))
      #expect(backend.log.rows { $0.path == "/token" }.map(\.account) == [1])
    }
  }

  @Test(arguments: [
    ["code_verifier": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    ["redirect_uri": "http://127.0.0.1:49153/callback"], ["redirect_uri": nil], ["code": "x"],
  ])
  func `A code cannot be exchanged without its verifier and redirect`(changes: [String: String?]) async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let code = try await page.code()
      try expectError("invalid_grant", try await page.exchange(code, changes))
      let again = try await page.exchange(code)
      if changes["code"] == nil { try expectError("invalid_grant", again) } else { #expect(again.status == 200) }
    }
  }

  @Test func `A code that is used twice ends the session of its first use`() async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let code = try await page.code()
      let tokens = try SignedIn(try await page.exchange(code).json())
      #expect(try await client.status(with: tokens.access) == 200)
      try expectError("invalid_grant", try await page.exchange(code))
      #expect(try await client.status(with: tokens.access) == 401)
      try expectError("invalid_grant", try await page.refresh(tokens.refresh))
    }
  }

  @Test func `After concurrent exchanges of one code no session is valid`() async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let code = try await page.code()
      let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
        for _ in 0..<8 { group.addTask { try await page.exchange(code) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count { $0.status == 200 } <= 1)
      for answer in answers where answer.status == 200 {
        #expect(try await client.status(with: try SignedIn(answer.json()).access) == 401)
      }
    }
  }

  @Test func `A code expires after a minute`() async throws {
    let clock = ManualClock()
    try await withBackend(.testing { $0.now = { clock.now } }) { _, client in
      let page = SignInPage(client: client)
      let code = try await page.code()
      clock.advance(by: .seconds(60))
      try expectError("invalid_grant", try await page.exchange(code))
    }
  }

  @Test func `A refresh rotates the tokens, and reuse of a superseded token ends the session`() async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let old = try await page.signIn()
      let new = try SignedIn(try await page.refresh(old.refresh).json())
      #expect(new.refresh != old.refresh)
      #expect(try await client.status(with: new.access) == 200)
      try expectError("invalid_grant", try await page.refresh(old.refresh))
      #expect(try await client.status(with: new.access) == 401)
      try expectError("invalid_grant", try await page.refresh(new.refresh))
    }
  }

  @Test func `Tokens of the app's own sign-in and of the authorization server are not interchangeable`() async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let (granted, own) = (try await page.signIn(), try await client.signIn())
      try expectError("invalid_grant", try await page.refresh(own.refresh))
      #expect(try await client.refresh(granted.refresh).status == 400)
      #expect(try await page.revoke(own.refresh).status == 200)
      #expect(try await client.status(with: own.access) == 200)
      #expect(try await page.refresh(granted.refresh).status == 200)
    }
  }

  @Test(arguments: [false, true])
  func `A revocation with either token ends the session`(isRefresh: Bool) async throws {
    try await withBackend { _, client in
      let page = SignInPage(client: client)
      let tokens = try await page.signIn()
      #expect(try await page.revoke(isRefresh ? tokens.refresh : tokens.access).status == 200)
      #expect(try await client.status(with: tokens.access) == 401)
      try expectError("invalid_grant", try await page.refresh(tokens.refresh))
      #expect(try await page.revoke(tokens.refresh).status == 200)
    }
  }

  @Test(arguments: [
    ("grant_type=refresh_token&refresh_token=x", "invalid_client"),
    ("client_id=other&grant_type=refresh_token&refresh_token=x", "invalid_client"),
    ("client_id=demo-app&client_id=demo-app&grant_type=refresh_token", "invalid_request"),
    ("client_id=demo-app", "invalid_request"),
    ("client_id=demo-app&grant_type=refresh_token", "invalid_request"),
    ("client_id=demo-app&grant_type=authorization_code&code=x", "invalid_request"),
    ("client_id=demo-app&grant_type=password", "unsupported_grant_type"),
    ("client_id=%", "invalid_request"), ("", "invalid_client"),
  ])
  func `A request that is incomplete or of another client gets an error`(form: String, code: String) async throws {
    try await withBackend { _, client in
      try expectError(code, try await client.post("/token", form: form))
    }
  }

  @Test func `Content that is not a form, and a revocation without a token, get an error`() async throws {
    try await withBackend { _, client in
      try expectError("invalid_request", try await client.post("/token", "{}"))
      try expectError("invalid_request", try await client.post("/revoke", form: "client_id=demo-app"))
      try expectError("invalid_client", try await client.post("/revoke", form: "token=x"))
    }
  }

  @Test func `The log has no codes, states, verifiers and tokens`() async throws {
    try await withBackend { backend, client in
      let page = SignInPage(client: client)
      let code = try await page.code()
      let tokens = try SignedIn(try await page.exchange(code).json())
      _ = try await page.refresh(tokens.refresh)
      let text = String(describing: backend.log.rows)
      for secret in [code, "a%20b", SignInPage.verifier, tokens.access, tokens.refresh, "12345678"] {
        #expect(!text.contains(secret))
      }
      #expect(text.contains("state=[redacted]") && text.contains("code_challenge_method=S256"))
    }
  }
}
