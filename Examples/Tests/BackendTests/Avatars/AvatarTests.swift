import Backend
import Testing

@Suite struct AvatarTests {
  @Test(arguments: ["GET /avatars/1", "GET /avatars/x"])
  func `An unknown avatar is not found`(line: String) async throws {
    try await withBackend { (_, client) async throws in
      let parts = line.split(separator: " ").map(String.init)
      #expect(try await client.send(parts[0], parts[1]).status == 404)
    }
  }

  @Test func `An upload needs a token and a form`() async throws {
    try await withBackend { _, client in
      #expect(try await client.post("/avatars", "{}").status == 401)
      let token = try await client.signIn().access
      #expect(try await client.post("/avatars", "{}", token: token).status == 415)
    }
  }
}
