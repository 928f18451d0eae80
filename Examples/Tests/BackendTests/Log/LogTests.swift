import Backend
import Foundation
import Testing

@Suite struct LogTests {
  @Test func `A row has the request, its sender and the response`() async throws {
    let clock = ManualClock()
    try await withBackend(.testing { $0.now = { clock.now } }) { backend, client in
      let token = try await client.signIn().access
      let answer = try await client.send(
        "POST", "/friends?x=1", json: #"{"name": "Zoe"}"#, token: token, fields: ["User-Agent: test/1"])
      let row = try #require(await backend.log.first { $0.path == "/friends" && $0.hasEnded })
      #expect(row.sequence == 3)
      #expect(row.connection == 3)
      #expect(row.time == clock.now)
      #expect(row.method == "POST")
      #expect(row.query == "x=1")
      #expect(row.status == 201)
      #expect(row.account == 1)
      #expect(row.credential == "bearer:\(Backend.fingerprint(of: token))")
      #expect(row.userAgent == "test/1")
      #expect(row.requestContentLength == 15)
      #expect(row.responseContentLength == answer.content.count)
      #expect(!row.clientLeft)
    }
  }

  @Test func `The log contains no secrets`() async throws {
    try await withBackend { backend, client in
      let tokens = try await client.signIn()
      _ = try await client.get("/friends", token: tokens.access)
      _ = try await client.get("/friends?access_token=\(tokens.access)&%61pi_key=demo-key&page=1")
      _ = try await client.get("/3/movie/popular?api_key=demo-key")
      _ = try await client.post("/sessions/refresh", #"{"refresh_token": "\#(tokens.refresh)"}"#)
      let text = try await client.get("/__log").text + String(describing: backend.log.rows)
      for secret in [tokens.access, tokens.refresh, "demo-key", "12345678"] {
        #expect(!text.contains(secret))
      }
      #expect(text.contains("api_key=[redacted]"))
    }
  }

  @Test func `Over HTTP the log has the same rows, and reading it adds no rows`() async throws {
    try await withBackend { backend, client in
      _ = try await client.get("/")
      _ = try await client.get("/nowhere?a=b")
      let json = try await client.get("/__log?ended=true&count=2&wait_ms=10000").json()
      #expect(json["items"]?.items.compactMap { $0["sequence"]?.int } == [1, 2])
      let row = try #require(json["items"]?.items.last)
      #expect(row["path"] == .string("/nowhere"))
      #expect(row["query"] == .string("a=b"))
      #expect(row["status"]?.int == 404)
      #expect(row["client_left"] == .bool(false))
      #expect(row["duration_milliseconds"]?.double != nil)
      #expect(try await client.get("/__log?after=1").json()["items"]?.items.count == 1)
      #expect(try await client.get("/__log?path=/&method=GET").json()["items"]?.items.count == 1)
      #expect(try await client.get("/__log?client_left=true").json()["items"]?.items.isEmpty == true)
      #expect(try await client.get("/__log?ended=perhaps").status == 422)
      #expect(backend.log.rows.count == 2)
      #expect(try await client.send("DELETE", "/__log").status == 204)
      #expect(backend.log.rows.isEmpty)
      _ = try await client.get("/")
      #expect(backend.log.rows.map(\.sequence) == [3])
    }
  }

  @Test func `Rows read over HTTP equal the rows of the log`() async throws {
    let clock = ManualClock()
    try await withBackend(.testing { $0.now = { clock.now } }) { backend, client in
      _ = try await client.signIn()
      let answer = try await client.get("/__log?ended=true&count=2&wait_ms=10000")
      #expect(try LoggedExchange.rows(from: Data(answer.content)) == backend.log.rows)
    }
  }

  @Test func `A client that disconnects right after its response is not recorded as disconnected early`() async throws {
    try await withBackend { backend, client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<300 { group.addTask { _ = try await client.get("/nowhere") } }
        try await group.waitForAll()
      }
      let rows = await backend.log.rows(atLeast: 300) { $0.hasEnded }
      #expect(rows.count == 300)
      #expect(rows.allSatisfy { !$0.clientLeft && $0.status == 404 })
    }
  }

  @Test func `Malformed content is logged as 400, and an aborted upload is not`() async throws {
    try await withBackend { backend, client in
      let head = "POST /accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      try await Wire.open(client.port) { wire in
        try await wire.send(head + "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        #expect(try await wire.answer().status == 400)
      }
      try await Wire.open(client.port) { wire in
        try await wire.send(head + "Content-Length: 100\r\n\r\n{}")
        _ = await backend.log.first { $0.sequence == 2 }
      }
      let rows = await backend.log.rows(atLeast: 2) { $0.hasEnded }
      #expect(rows.map(\.status) == [400, nil])
      #expect(rows.map(\.clientLeft) == [false, true])
    }
  }

  @Test func `All requests of a connection have its number`() async throws {
    try await withBackend { backend, client in
      try await Wire.open(client.port) { wire in
        for _ in 0..<3 {
          try await wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          _ = try await wire.answer()
        }
      }
      _ = try await client.get("/")
      #expect(backend.log.rows.map(\.connection) == [1, 1, 1, 2])
    }
  }

  @Test func `The oldest rows are dropped at the capacity`() async throws {
    try await withBackend(.testing { $0.logCapacity = 2 }) { backend, client in
      for _ in 0..<4 { _ = try await client.get("/") }
      #expect(backend.log.rows.map(\.sequence) == [3, 4])
    }
  }

  @Test func `Waiting for a row ends at the limit`() async throws {
    try await withBackend { backend, _ in
      #expect(await backend.log.first(within: .milliseconds(10)) { _ in true } == nil)
    }
  }
}
