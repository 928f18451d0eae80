import Backend
import Testing

@Suite struct EventTests {
  private let key = ["X-Api-Key: demo-key"]

  @Test func `Events are stored in order`() async throws {
    try await withBackend { backend, client in
      for name in ["opened", "closed"] {
        let answer = try await client.send("POST", "/events", json: #"{"name": "\#(name)"}"#, fields: key)
        #expect(answer.status == 202)
      }
      let events = try await client.send("GET", "/events", fields: key).json()
      #expect(events["items"]?.items.compactMap { $0["name"]?.string } == ["opened", "closed"])
      let credential = "api_key:\(Backend.fingerprint(of: "demo-key"))"
      #expect(backend.log.rows.allSatisfy { $0.credential == credential })
    }
  }

  @Test func `Without the key no event is stored or listed`() async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.post("/events", #"{"name": "x"}"#).status == 403)
      #expect(try await client.send("GET", "/events", fields: ["X-Api-Key: wrong"]).status == 403)
      #expect(try await client.send("GET", "/events", fields: key).json()["items"]?.items.isEmpty == true)
      #expect(try await client.send("POST", "/events", json: #"{"name": ""}"#, fields: key).status == 422)
    }
  }
}
