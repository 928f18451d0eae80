import Backend
import Testing

@Suite struct FilmContentTests {
  private static let path = "/films/32710.mp4"
  private let content = Backend.filmContent(32710)

  @Test func `A range to the end is partial, unless the entity tag differs`() async throws {
    try await withBackend { _, client in
      let all = try await client.get(Self.path)
      #expect(all.content == content)
      let tag = try #require(all["etag"])
      let rest = try await client.send("GET", Self.path, fields: ["Range: bytes=1000-", "If-Range: \(tag)"])
      #expect(rest.status == 206)
      #expect(rest["content-range"] == "bytes 1000-262143/262144")
      #expect(rest.content == Array(content[1000...]))
      let other = try await client.send("GET", Self.path, fields: ["Range: bytes=1000-", #"If-Range: "other""#])
      #expect(other.status == 200)
      #expect(other.content == content)
    }
  }

  @Test func `A range behind the end cannot be satisfied`() async throws {
    try await withBackend { _, client in
      let answer = try await client.send("GET", Self.path, fields: ["Range: bytes=262144-"])
      #expect(answer.status == 416)
      #expect(answer["content-range"] == "bytes */262144")
    }
  }

  @Test(arguments: ["bytes=0-9,20-29", "bytes=-5", "bytes=x-", "lines=1-", "bytes=-"])
  func `Other ranges are ignored`(range: String) async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.send("GET", Self.path, fields: ["Range: \(range)"]).status == 200)
    }
  }

  @Test(arguments: ["1.mp4", "32710.svg", "x.mp4", ".mp4"])
  func `An unknown file is not found`(file: String) async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.get("/films/\(file)").status == 404)
    }
  }
}
