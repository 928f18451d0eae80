import Backend
import Foundation
import Testing

@Suite struct FaultTests {
  @Test(arguments: ["http://example.com/", "//x", "", "http://127.0.0.1.example.com/"])
  func `A redirect to another machine is rejected`(target: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/faults/redirect?to=http://127.0.0.1:8080/x")
      #expect(answer.status == 302)
      #expect(answer["location"] == "http://127.0.0.1:8080/x")
      #expect(try await client.get("/faults/redirect?to=\(target)").status == 422)
    }
  }

  @Test func `A stalled request ends when the client disconnects, and the log contains it`() async throws {
    try await withBackend { backend, client in
      try await Wire.open(client.port) { wire in
        try await wire.send("GET /faults/stall HTTP/1.1\r\nHost: x\r\n\r\n")
        let row = await backend.log.first { $0.path == "/faults/stall" }
        #expect(row?.hasEnded == false)
      }
      let row = await backend.log.first { $0.hasEnded }
      #expect(row?.clientLeft == true)
      #expect(row?.status == nil)
    }
  }

  @Test func `Malformed content is labeled as JSON and truncated`() async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/faults/malformed")
      #expect(answer.status == 200)
      #expect(answer["content-type"] == "application/json")
      #expect(throws: DecodingError.self) { try answer.json() }
    }
  }

  @Test func `Content of the wrong shape is JSON but not a page of friends`() async throws {
    try await withBackend { _, client in
      let json = try await client.get("/faults/wrong-shape").json()
      #expect(json["page"]?.int == nil)
      #expect(json["items"]?.items.isEmpty == true)
    }
  }

  @Test func `A slow response is delayed`() async throws {
    try await withBackend { backend, client in
      let answer = try await client.get("/faults/slow?ms=60")
      #expect(answer.text == #"{"slept_ms":60}"#)
      let row = await backend.log.first { $0.hasEnded }
      #expect((row?.durationMilliseconds ?? 0) >= 60)
      #expect(try await client.get("/faults/slow?ms=-1").status == 422)
    }
  }

  @Test func `A response that is sent byte by byte is complete`() async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/faults/drip?bytes=20&ms=1")
      #expect(answer["transfer-encoding"] == "chunked")
      #expect(answer.text == String(repeating: ".", count: 20))
    }
  }

  @Test func `A client that disconnects during a response is recorded as disconnected early`() async throws {
    try await withBackend { backend, client in
      try await Wire.open(client.port) { wire in
        try await wire.send("GET /faults/drip?bytes=100000&ms=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = await backend.log.first { $0.status == 200 }
      }
      let row = await backend.log.first { $0.hasEnded }
      #expect(row?.clientLeft == true)
      #expect(row?.status == 200)
    }
  }

  @Test(arguments: [200, 204, 304, 401, 404, 418, 429, 500, 503, 599])
  func `Any status can be requested`(code: Int) async throws {
    try await withBackend { _, client in
      let answer = try await client.get("/faults/status/\(code)?retry_after=7")
      #expect(answer.status == code)
      #expect(answer["retry-after"] == "7")
      if code >= 400 { #expect(answer["content-type"] == "application/problem+json") }
      if code == 401 { #expect(answer["www-authenticate"] != nil) }
    }
  }

  @Test func `A retry delay can be given in milliseconds`() async throws {
    try await withBackend { _, client in
      for target in ["/faults/status/503?", "/faults/flaky?key=ms&failures=1&"] {
        let answer = try await client.get("\(target)retry_after_ms=40")
        #expect(answer.status == 503)
        #expect(answer["retry-after-ms"] == "40")
        #expect(answer["retry-after"] == nil)
        #expect(try await client.get("\(target)retry_after_ms=x").status == 422)
      }
    }
  }

  @Test(arguments: ["100", "199", "600", "x", "-5"])
  func `An invalid status is rejected`(code: String) async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.get("/faults/status/\(code)").status == 422)
    }
  }

  @Test func `A flaky request fails as often as requested, counted by key`() async throws {
    try await withBackend { _, client in
      let failed = try await client.get("/faults/flaky?key=a&failures=2&retry_after=0")
      #expect(failed.status == 503)
      #expect(failed["retry-after"] == "0")
      #expect(try await client.get("/faults/flaky?key=a&failures=2").status == 503)
      #expect(try await client.get("/faults/flaky?key=a&failures=2").text == #"{"attempts":3}"#)
      #expect(try await client.get("/faults/flaky?key=b&failures=2").status == 503)
    }
  }
}
