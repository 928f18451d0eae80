import Backend
import Testing

@Suite struct AccountTests {
  @Test func `A sign-up creates an account and does not return the password`() async throws {
    try await withBackend { _, client in
      let answer = try await client.post(
        "/accounts", #"{"name": " Ann ", "email": "ann@example.com", "password": "correct horse"}"#)
      #expect(answer.status == 201)
      let account = try answer.json()
      #expect(account.names == ["id", "name", "email"])
      #expect(account["name"] == .string("Ann"))
      #expect(account["email"] == .string("ann@example.com"))
    }
  }

  @Test func `All errors of a sign-up are reported at once`() async throws {
    try await withBackend { _, client in
      let answer = try await client.post("/accounts", #"{"name": "", "email": "ann@", "password": "short"}"#)
      #expect(answer.status == 422)
      #expect(answer["content-type"] == "application/problem+json")
      let problem = try answer.json()
      #expect(problem["status"]?.int == 422)
      #expect(problem["title"] == .string("Unprocessable Content"))
      #expect(problem["errors"]?.items.compactMap { $0["field"]?.string } == ["name", "email", "password"])
      #expect(problem["errors"]?.items.allSatisfy { $0["message"]?.string?.isEmpty == false } == true)
    }
  }

  @Test func `An e-mail address has one account, regardless of case`() async throws {
    try await withBackend { _, client in
      let first = try await client.post(
        "/accounts", #"{"name": "Ann", "email": "ann@example.com", "password": "12345678"}"#)
      let second = try await client.post(
        "/accounts", #"{"name": "Bob", "email": "ANN@example.com", "password": "12345678"}"#)
      #expect(first.status == 201)
      #expect(second.status == 409)
      #expect(second["content-type"] == "application/problem+json")
    }
  }

  @Test func `A signed-in client reads its account`() async throws {
    try await withBackend { _, client in
      let ann = try await client.signIn()
      let bob = try await client.signIn(name: "Bob", email: "bob@example.com")
      #expect(try await client.get("/accounts/me", token: ann.access).json()["name"] == .string("Ann"))
      #expect(try await client.get("/accounts/me", token: bob.access).json()["name"] == .string("Bob"))
    }
  }

  @Test func `A wrong password and an unknown address get the same response`() async throws {
    try await withBackend { _, client in
      _ = try await client.signIn()
      let wrong = try await client.post("/sessions", #"{"email": "ann@example.com", "password": "87654321"}"#)
      let unknown = try await client.post("/sessions", #"{"email": "eve@example.com", "password": "87654321"}"#)
      #expect(wrong.status == 401)
      #expect(wrong["www-authenticate"]?.hasPrefix("Bearer ") == true)
      #expect(unknown.status == 401)
      #expect(wrong.text == unknown.text)
    }
  }
}
