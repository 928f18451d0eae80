import Backend
import Testing

@Suite struct CutResponsesTests {
  @Test func `A connection is closed in the middle of a response, and the next response is complete`() async throws {
    let options = Backend.Options.testing()
    try await withBackend(options) { backend, client in
      options.cut.cut("GET /films/32710.mp4", after: 1000)
      await #expect(throws: Wire.Closed.self) { try await client.get("/films/32710.mp4") }
      let content = try await client.get("/films/32710.mp4").content
      #expect(content == Backend.filmContent(32710))
      let rows = await backend.log.rows(atLeast: 2) { $0.hasEnded }
      #expect(rows.map(\.status) == [200, 200])
      #expect(rows.allSatisfy { !$0.clientLeft })
    }
  }
}
