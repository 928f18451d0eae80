import Foundation
import Testing

@testable import Backend

@Suite struct LifecycleTests {
  @Test func `The root describes the backend`() async throws {
    try await withBackend(.testing { $0.name = "staging" }) { backend, client in
      let answer = try await client.get("/")
      #expect(answer["server"] == "staging")
      #expect(answer.text == #"{"films":1500,"latency_ms":0,"name":"staging"}"#)
      #expect(backend.baseURL == "http://127.0.0.1:\(backend.port)")
    }
  }

  @Test func `Stopping ends stalled requests and can be repeated`() async throws {
    let backend = try await Backend.start()
    try await Wire.open(backend.port) { wire in
      try await wire.send("GET /faults/stall HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = await backend.log.first { $0.path == "/faults/stall" }
      await backend.stop()
      try await wire.drain()
    }
    await backend.stop()
    await #expect(throws: (any Error).self) { try await TestClient(port: backend.port).get("/") }
  }

  @Test func `Accounts and sessions in a database file survive a restart`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifecycle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("kept.sqlite").path
    var token = ""
    try await withBackend(.testing { $0.database = path }) { _, client in token = try await client.signIn().access }
    try await withBackend(.testing { $0.database = path }) { (_, client) async throws in
      #expect(try await client.get("/accounts/me", token: token).json()["name"] == .string("Ann"))
      #expect(try await client.get("/").json()["films"]?.int == 1500)
    }
    // The file contains no passwords or tokens in clear text.
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(data.range(of: Data(token.utf8)) == nil)
    #expect(data.range(of: Data("12345678".utf8)) == nil)
  }

  @Test func `A temporary database is removed on close`() throws {
    let database = try Database(path: nil)
    let folder = URL(fileURLWithPath: database.path).deletingLastPathComponent()
    #expect(FileManager.default.fileExists(atPath: folder.path))
    database.close()
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `A port in use is an error`() async throws {
    try await withBackend { backend, _ in
      var options = Backend.Options()
      options.port = backend.port
      await #expect(throws: (any Error).self) { try await Backend.start(options) }
    }
  }

  @Test func `A database that cannot be opened is an error`() async {
    var options = Backend.Options()
    options.database = "/nowhere/at/all.sqlite"
    await #expect(throws: (any Error).self) { try await Backend.start(options) }
  }

  @Test(arguments: ["port", "tokenLifetime", "sessionLifetime", "passwordHashRounds"])
  func `An error contains the name of the option that is out of range`(name: String) async {
    var options = Backend.Options()
    switch name {
    case "port": options.port = 70_000
    case "tokenLifetime": options.tokenLifetime = .zero
    case "sessionLifetime": options.sessionLifetime = .zero
    default: options.passwordHashRounds = 3
    }
    await #expect(throws: Backend.InvalidOption(name: name)) { try await Backend.start(options) }
  }

  @Test func `Latency delays every response, and clients that disconnect during it are recorded`() async throws {
    try await withBackend(.testing { $0.latency = .milliseconds(50) }) { (backend, client) async throws in
      #expect(try await client.get("/nowhere").status == 404)
      let row = await backend.log.first { $0.hasEnded }
      #expect((row?.durationMilliseconds ?? 0) >= 50)
    }
    try await withBackend(.testing { $0.latency = .seconds(60) }) { backend, client in
      try await Wire.open(client.port) { wire in
        try await wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = await backend.log.first { $0.path == "/" }
      }
      let row = await backend.log.first { $0.hasEnded }
      #expect(row?.clientLeft == true)
      #expect(row?.status == nil)
    }
  }
}
