import Backend
import Testing

@Suite struct SocialTests {
  @Test func `Friends of friends come in pages with a cursor`() async throws {
    try await withBackend { _, client in
      let token = try await client.signIn().access
      var names: [String] = []
      var target: String? = "/friends/of-friends"
      var pages = 0
      while let path = target, pages < 10 {
        let page = try await client.get(path, token: token).json()
        names += page["items"]?.items.compactMap { $0["name"]?.string } ?? []
        target = page["next_cursor"]?.string.map { "/friends/of-friends?cursor=\($0)" }
        pages += 1
      }
      #expect(pages == 5)
      #expect(Set(names).count == 45)
      for cursor in ["x", "", "OTk="] {
        #expect(try await client.get("/friends/of-friends?cursor=\(cursor)", token: token).status == 422)
      }
    }
  }

  @Test func `The activity continues after the last event ID and ends when the client disconnects`() async throws {
    try await withBackend { backend, client in
      let token = try await client.signIn().access
      try await Wire.open(client.port) { wire in
        let head = "GET /friends/activity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
        try await wire.send(head + "Last-Event-ID: 5\r\n\r\n")
        let text = try await wire.text(through: "}\n\n")
        #expect(text.contains("id: 6\n"))
        #expect(!text.contains("id: 5\n"))
      }
      let row = await backend.log.first { $0.path == "/friends/activity" && $0.hasEnded }
      #expect(row?.clientLeft == true)
      #expect(row?.lastEvent == "5")
    }
  }

  @Test(arguments: ["7", "-1", "x"])
  func `An unknown last event ID is rejected`(id: String) async throws {
    try await withBackend { (_, client) async throws in
      let token = try await client.signIn().access
      let fields = ["Last-Event-ID: \(id)"]
      #expect(try await client.send("GET", "/friends/activity", token: token, fields: fields).status == 400)
    }
  }
}
