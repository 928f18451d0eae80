import Backend
import Testing

@Suite struct HeldResponsesTests {
  private let options = Backend.Options.testing()
  private var held: HeldResponses { options.held }

  @Test func `A held response is sent when it is released, after the work is done; other responses are not held`()
    async throws
  {
    try await withBackend(options) { backend, client in
      let old = try await client.signIn()
      held.hold("POST /sessions/refresh")
      let late = Task { try await client.refreshed(old) }
      await held.waitForResponses(1)
      let row = try #require(backend.log.rows { $0.path == "/sessions/refresh" }.first)
      #expect(row.status == nil)
      #expect(row.account == 1)
      #expect(try await client.status(with: old.access) == 200)
      held.release()
      let new = try await late.value
      #expect(try await client.status(with: new.access) == 200)
      #expect(try await client.refresh(new.refresh).status == 200)
    }
  }

  @Test func `Many responses are held at once`() async throws {
    try await withBackend(options) { _, client in
      held.hold("GET /nowhere")
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<5 { group.addTask { try await client.get("/nowhere").status } }
        await held.waitForResponses(5)
        held.release()
        for try await status in group { #expect(status == 404) }
      }
    }
  }

  @Test func `A backend stops with a response held`() async throws {
    let backend = try await Backend.start(options)
    held.hold("GET /")
    try await Wire.open(backend.port) { wire in
      try await wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      await held.waitForResponses(1)
      await backend.stop()
      try await wire.drain()
    }
  }
}
