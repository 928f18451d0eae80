import Backend
import Testing

@Suite struct LostResponsesTests {
  @Test func `The work for a lost response is done, and the next response arrives`() async throws {
    let options = Backend.Options.testing()
    try await withBackend(options) { backend, client in
      let token = try await client.signIn().access
      options.lost.lose("POST /friends")
      let lost = try await client.post("/friends", #"{"name": "Zoe"}"#, token: token)
      #expect(lost.status == 502)
      #expect(lost["content-type"] == "application/problem+json")
      #expect(try await client.get("/friends", token: token).json()["total_results"]?.int == 1)
      #expect(try await client.post("/friends", #"{"name": "Yan"}"#, token: token).status == 201)
      #expect(backend.log.rows { $0.method == "POST" && $0.path == "/friends" }.map(\.status) == [502, 201])
    }
  }

  @Test func `As many responses are lost as requested, counted for each kind of request`() async throws {
    let options = Backend.Options.testing()
    options.lost.lose("GET /", count: 2)
    options.lost.lose("GET /nowhere")
    try await withBackend(options) { (_, client) async throws in
      var statuses: [Int] = []
      for _ in 0..<3 { statuses.append(try await client.get("/?x=1").status) }
      for _ in 0..<2 { statuses.append(try await client.get("/nowhere").status) }
      #expect(statuses == [502, 502, 200, 502, 404])
    }
  }
}
