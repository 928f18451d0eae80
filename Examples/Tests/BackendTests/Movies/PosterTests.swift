import Backend
import Testing

@Suite struct PosterTests {
  @Test func `A film's poster is at its path, in every size and without a key`() async throws {
    try await withBackend { _, client in
      for target in ["/3/movie/popular", "/3/movie/32710"] {
        let json = try await client.get("\(target)?api_key=demo-key").json()
        let film = json["results"]?.items.first ?? json
        let path = try #require(film["poster_path"]?.string)
        for size in ["w92", "w185", "original"] {
          let poster = try await client.get("/t/p/\(size)\(path)")
          #expect(poster.status == 200)
          #expect(poster["content-type"] == "image/svg+xml")
          #expect(poster.text.hasPrefix("<svg"))
        }
      }
    }
  }

  @Test func `A poster contains the title`() async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.get("/t/p/w185/32710.svg").text.contains(">The Matrix</text>"))
    }
  }

  @Test func `Special characters of XML are escaped`() async throws {
    try await withBackend { _, client in
      let found = try await client.get("/3/search/movie?api_key=demo-key&query=%26").json()
      let path = try #require(found["results"]?.items.first?["poster_path"]?.string)
      let text = try await client.get("/t/p/w185\(path)").text
      #expect(text.contains("&amp;"))
      #expect(!text.replacing("&amp;", with: "").contains("&"))
    }
  }

  @Test(arguments: ["w185/1.svg", "w185/32710.jpg", "w185/x.svg", "w1/32710.svg", "w185/.svg", "w185/-1.svg", "w185"])
  func `An invalid poster path is not found`(target: String) async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.get("/t/p/\(target)").status == 404)
    }
  }
}
