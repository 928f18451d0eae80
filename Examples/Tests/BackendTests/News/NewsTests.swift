import Backend
import Testing

@Suite struct NewsTests {
  @Test func `Every response is an envelope with code, message and data`() async throws {
    try await withBackend { _, client in
      let headlines = try await client.get("/news").json()
      #expect(headlines.names == ["code", "message", "data"])
      #expect(headlines["code"]?.int == 0)
      #expect(headlines["data"]?.items.compactMap { $0["id"]?.int } == [1, 2, 3])
      let article = try await client.get("/news/2").json()
      #expect(article["data"]?.names == ["id", "title", "text"])
    }
  }

  @Test(arguments: ["99", "0", "x"])
  func `An unknown article is an error code with status 200`(id: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/news/\(id)")
      #expect(answer.status == 200)
      #expect(answer.text == #"{"code":1404,"data":null,"message":"There is no such article."}"#)
    }
  }
}
