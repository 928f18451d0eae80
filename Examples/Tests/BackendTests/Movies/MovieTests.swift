import Backend
import Testing

@Suite struct MovieTests {
  private let key = "api_key=demo-key"

  @Test func `Popular films come in pages of twenty, sorted by votes`() async throws {
    try await withBackend { _, client in
      let first = try await client.get("/3/movie/popular?\(key)").json()
      #expect(first.names == ["page", "results", "total_pages", "total_results"])
      #expect(first["total_results"]?.int == 1500)
      #expect(first["total_pages"]?.int == 75)
      let films = first["results"]?.items ?? []
      #expect(films.count == 20)
      let votes = films.compactMap { $0["vote_count"]?.int }
      #expect(votes == votes.sorted(by: >))
      let second = try await client.get("/3/movie/popular?\(key)&page=2").json()
      let ids = Set((films + (second["results"]?.items ?? [])).compactMap { $0["id"]?.int })
      #expect(ids.count == 40)
      let beyond = try await client.get("/3/movie/popular?page=76&\(key)").json()
      #expect(beyond["results"]?.items.isEmpty == true)
    }
  }

  @Test func `A film in a list has the members of TheMovieDB's API`() async throws {
    try await withBackend { _, client in
      let film = try #require(try await client.get("/3/movie/popular?\(key)").json()["results"]?.items.first)
      #expect(
        film.names == [
          "adult", "backdrop_path", "genre_ids", "id", "original_language", "original_title", "overview", "popularity",
          "poster_path", "release_date", "title", "video", "vote_average", "vote_count",
        ])
      #expect(film["title"] == .string("The Lord of the Rings: The Fellowship of the Ring"))
      #expect(film["overview"] == .null)
      #expect(film["release_date"] == .string("2001-01-01"))
      #expect(film["genre_ids"] == .array([.number(28)]))
    }
  }

  @Test func `The details of a film have a runtime and named genres`() async throws {
    try await withBackend { _, client in
      let film = try await client.get("/3/movie/32710?\(key)").json()
      #expect(film["title"] == .string("The Matrix"))
      #expect(film["runtime"]?.int == 136)
      #expect(film["genres"] == .array([.object(["id": .number(28), "name": .string("Action")])]))
      #expect(film["genre_ids"] == nil)
      #expect(film["tagline"] == .null)
    }
  }

  @Test func `New films are of the newest two years`() async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/3/movie/now_playing?\(key)").json()
      #expect(answer["dates"]?["minimum"] == .string("2004-01-01"))
      #expect(answer["dates"]?["maximum"] == .string("2005-12-31"))
      let dates = answer["results"]?.items.compactMap { $0["release_date"]?.string } ?? []
      #expect(dates.count == 20)
      #expect(dates.allSatisfy { ["2004-01-01", "2005-01-01"].contains($0) })
    }
  }

  @Test func `Recommendations share a genre and exclude the film`() async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/3/movie/32710/recommendations?\(key)&page=2").json()
      let films = answer["results"]?.items ?? []
      #expect(answer["page"]?.int == 2)
      #expect(films.count == 20)
      #expect(films.allSatisfy { $0["genre_ids"]?.items.contains(.number(28)) == true && $0["id"]?.int != 32710 })
    }
  }

  @Test func `A film has the videos in the database, in the format of TheMovieDB's API`() async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/3/movie/32710/videos?\(key)").json()
      #expect(answer.names == ["id", "results"])
      #expect(answer["id"]?.int == 32710)
      let videos = answer["results"]?.items ?? []
      #expect(videos.compactMap { $0["type"]?.string } == ["Trailer", "Teaser", "Featurette"])
      #expect(videos.first?.names == ["id", "name", "type", "site", "key", "size", "official"])
      #expect(videos.first?["name"] == .string("The Matrix: Trailer"))
      #expect(Set(videos.compactMap { $0["key"]?.string }).count == 3)
    }
  }

  @Test func `A film with few votes has a trailer only`() async throws {
    try await withBackend { _, client in
      let last = try await client.get("/3/movie/popular?\(key)&page=75").json()
      let id = try #require(last["results"]?.items.last?["id"]?.int)
      let videos = try await client.get("/3/movie/\(id)/videos?\(key)").json()["results"]?.items ?? []
      #expect(videos.compactMap { $0["type"]?.string } == ["Trailer"])
      #expect(try await client.get("/3/movie/1/videos?\(key)").status == 404)
    }
  }

  @Test func `A search finds titles with all words, and wildcards are plain characters`() async throws {
    try await withBackend { _, client in
      let found = try await client.get("/3/search/movie?\(key)&query=MATRIX+the").json()
      let titles = found["results"]?.items.compactMap { $0["title"]?.string } ?? []
      #expect(titles == ["The Matrix", "The Matrix Reloaded", "The Matrix Revolutions"])
      for query in ["%25", "_", "xyzzy", "%20", "%5C"] {
        let none = try await client.get("/3/search/movie?\(key)&query=\(query)").json()
        #expect(none["total_results"]?.int == 0, "\(query)")
      }
      #expect(try await client.get("/3/search/movie?\(key)").status == 422)
    }
  }

  @Test(arguments: ["/3/movie/popular", "/3/movie/popular?api_key=wrong", "/3/movie/1/videos?api_key="])
  func `Requests without the key are rejected`(target: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.get(target)
      #expect(answer.status == 401)
      #expect(answer["content-type"] == "application/json")
      let message = "Invalid API key: You must be granted a valid key."
      #expect(answer.text == #"{"status_code":7,"status_message":"\#(message)","success":false}"#)
    }
  }

  @Test func `Errors have the format of TheMovieDB's API`() async throws {
    try await withBackend { _, client in
      for target in ["/3/movie/1?\(key)", "/3/movie/x?\(key)", "/3/movie/1/recommendations?\(key)", "/3/nope", "/3"] {
        let answer = try await client.get(target)
        #expect(answer.status == 404, "\(target)")
        #expect(try answer.json()["status_code"]?.int == 34)
      }
      for page in ["0", "501", "x", "-1", ""] {
        let answer = try await client.get("/3/movie/popular?\(key)&page=\(page)")
        #expect(answer.status == 400, "\(page)")
        #expect(try answer.json()["status_code"]?.int == 22)
      }
      let method = try await client.post("/3/movie/popular", "{}")
      #expect(method.status == 405)
      #expect(method["allow"] == "GET, HEAD")
      #expect(try method.json().names == ["status_code", "status_message", "success"])
      #expect(try await client.get("/3/movie/popular?api_key=%").status == 400)
    }
  }

  @Test func `The key can be configured`() async throws {
    try await withBackend(.testing { $0.apiKey = "other" }) { (_, client) async throws in
      #expect(try await client.get("/3/movie/popular?\(key)").status == 401)
      #expect(try await client.get("/3/movie/popular?api_key=other").status == 200)
    }
  }
}
