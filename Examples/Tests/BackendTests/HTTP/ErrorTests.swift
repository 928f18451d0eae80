import Backend
import Testing

@Suite struct ErrorTests {
  @Test(arguments: ["/nowhere", "/friends/1/2/3", "/accounts/", "//", "/FRIENDS/x/y"])
  func `An unknown path is a 404 problem or another client error, never a success`(path: String) async throws {
    try await withBackend { _, client in
      let answer = try await client.get(path)
      #expect((400..<500).contains(answer.status) || path == "//")
      if answer.status >= 400 { #expect(answer["content-type"] == "application/problem+json") }
    }
  }

  @Test func `An unsupported method is a 405 with the supported methods`() async throws {
    try await withBackend { _, client in
      let answer = try await client.send("PATCH", "/friends")
      #expect(answer.status == 405)
      #expect(answer["allow"] == "GET, HEAD, POST")
      #expect(answer["content-type"] == "application/problem+json")
      #expect(try await client.send("PROPFIND", "/friends/7/category")["allow"] == "PUT")
      #expect(try await client.send("PROPFIND", "/nowhere").status == 404)
      // The parser treats an unknown method as malformed HTTP.
      #expect(try await client.send("BREW", "/friends").status == 400)
    }
  }

  @Test func `Content that is not JSON is rejected by its type or its form`() async throws {
    try await withBackend { (_, client) async throws in
      let fields = ["Content-Type: text/plain", "Content-Length: 2"]
      #expect(try await client.send("POST", "/accounts", fields: fields + ["X: y\r\n\r\n{}"]).status == 415)
      #expect(try await client.send("POST", "/accounts").status == 415)
      #expect(try await client.post("/accounts", #"{"name": "#).status == 400)
      #expect(try await client.post("/accounts", "").status == 400)
    }
  }

  @Test func `An error contains the name of the member with the wrong type`() async throws {
    try await withBackend { _, client in
      let answer = try await client.post("/accounts", #"{"name": 5}"#)
      #expect(answer.status == 422)
      #expect(try answer.json()["errors"]?.items.first?["field"] == .string("name"))
    }
  }

  @Test func `Content above the limit is rejected, with or without a length`() async throws {
    try await withBackend { _, client in
      let big = String(repeating: "x", count: 70_000)
      #expect(try await client.post("/accounts", #"{"name": "\#(big)"}"#).status == 413)
      let chunked = try await Wire.open(client.port) { wire in
        let fields = "Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        try await wire.send("POST /accounts HTTP/1.1\r\n\(fields)")
        try await wire.send("\(String(big.count, radix: 16))\r\n\(big)\r\n0\r\n\r\n")
        return try await wire.answer()
      }
      #expect(chunked.status == 413)
    }
  }

  @Test func `HEAD gets the response of GET without content, and the connection stays open`() async throws {
    try await withBackend { _, client in
      try await Wire.open(client.port) { wire in
        for path in ["/", "/nowhere", "/3/movie/popular", "/faults/drip?bytes=2&ms=0"] {
          try await wire.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
          _ = try await wire.answer(toHead: true)
        }
        try await wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await wire.answer().status == 200)
      }
    }
  }
}
