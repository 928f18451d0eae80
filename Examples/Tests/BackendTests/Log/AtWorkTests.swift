import Backend
import Testing

@Suite struct AtWorkTests {
  @Test func `A row has the number of requests in progress when its request arrived`() async throws {
    let options = Backend.Options.testing()
    try await withBackend(options) { backend, client in
      options.held.hold("GET /nowhere")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { _ = try await client.get("/nowhere") } }
        await options.held.waitForResponses(5)
        options.held.release()
        try await group.waitForAll()
      }
      _ = try await client.get("/")
      #expect(backend.log.rows.map(\.atWork) == [1, 2, 3, 4, 5, 1])
    }
  }

  @Test func `Requests of disconnected clients and of removed rows are not in progress`() async throws {
    try await withBackend { backend, client in
      try await Wire.open(client.port) { wire in
        try await wire.send("GET /faults/stall HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = await backend.log.first { $0.path == "/faults/stall" }
      }
      _ = await backend.log.first { $0.hasEnded }
      backend.log.clear()
      _ = try await client.get("/")
      #expect(backend.log.rows.map(\.atWork) == [1])
    }
  }

  @Test func `An idempotency key is logged as the start of its hash`() async throws {
    try await withBackend { backend, client in
      _ = try await client.send("POST", "/friends", json: "{}", fields: ["Idempotency-Key: k1"])
      _ = try await client.get("/")
      #expect(backend.log.rows.map(\.idempotencyKey) == [Backend.fingerprint(of: "k1"), nil])
      let items = try await client.get("/__log").json()["items"]?.items ?? []
      #expect(items.map { $0["idempotency_key"]?.string } == [Backend.fingerprint(of: "k1"), nil])
      #expect(items.map { $0["at_work"]?.int } == [1, 1])
    }
  }
}
