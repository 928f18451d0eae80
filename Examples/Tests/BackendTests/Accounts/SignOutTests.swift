import Backend
import Testing

@Suite struct SignOutTests {
  @Test func `A sign-out with an access token revokes both tokens`() async throws {
    try await withBackend { _, client in
      let tokens = try await client.signIn()
      #expect(try await client.send("DELETE", "/sessions", token: tokens.access).status == 204)
      #expect(try await client.status(with: tokens.access) == 401)
      #expect(try await client.refresh(tokens.refresh).status == 400)
    }
  }

  @Test func `A sign-out with only a refresh token revokes both tokens`() async throws {
    try await withBackend { _, client in
      let tokens = try await client.signIn()
      let other = try await client.signIn()
      #expect(try await revoke(tokens.refresh, client).status == 204)
      #expect(try await client.status(with: tokens.access) == 401)
      #expect(try await client.refresh(tokens.refresh).status == 400)
      #expect(try await client.status(with: other.access) == 200)
    }
  }

  @Test func `A sign-out with a superseded refresh token revokes the newer pair`() async throws {
    try await withBackend { _, client in
      let old = try await client.signIn()
      let new = try await client.refreshed(old)
      #expect(try await revoke(old.refresh, client).status == 204)
      #expect(try await client.status(with: new.access) == 401)
      #expect(try await client.refresh(new.refresh).status == 400)
    }
  }

  @Test func `The response does not reveal whether there was a session`() async throws {
    try await withBackend { _, client in
      let tokens = try await client.signIn()
      #expect(try await revoke("x", client).status == 204)
      #expect(try await revoke(tokens.refresh, client).status == 204)
      #expect(try await revoke(tokens.refresh, client).status == 204)
      #expect(try await client.post("/sessions/revoke", "{}").status == 422)
    }
  }

  private func revoke(_ token: String, _ client: TestClient) async throws -> Answer {
    try await client.post("/sessions/revoke", #"{"refresh_token": "\#(token)"}"#)
  }
}
