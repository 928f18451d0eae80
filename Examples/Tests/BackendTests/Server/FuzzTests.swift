import Backend
import Testing

/// Random input causes no failures and no responses with status 500.
@Suite struct FuzzTests {
  @Test(arguments: 0..<8)
  func `Random requests cause no server failures`(seed: Int) async throws {
    try await withBackend(.testing { $0.friendsPerAccount = 3 }) { backend, client in
      let token = try await client.signIn().access
      var random = RandomRequests(seed: UInt64(seed), token: token)
      for _ in 0..<50 {
        let requests = (0..<10).map { _ in random.next() }
        try await Self.play(requests, port: client.port)
      }
      let failed = backend.log.rows { ($0.status ?? 0) >= 500 && !$0.path.hasPrefix("/faults/") }
      #expect(failed.isEmpty, "\(failed.prefix(3))")
      #expect(try await client.get("/").status == 200)
    }
  }

  @Test(arguments: 0..<4)
  func `Random bytes cause no server failures`(seed: Int) async throws {
    try await withBackend { backend, client in
      var generator = SeededGenerator(seed: UInt64(seed))
      for round in 0..<60 {
        var bytes = (0..<Int.random(in: 1...400, using: &generator)).map { _ in
          UInt8.random(in: .min ... .max, using: &generator)
        }
        // Half of the inputs start with a valid head, so that the parser accepts the first line.
        if round.isMultiple(of: 2) { bytes = Array("POST /accounts HTTP/1.1\r\nHost: x\r\n".utf8) + bytes }
        try await Wire.open(client.port) { wire in try await wire.send(bytes) }
      }
      #expect(try await client.get("/").status == 200)
      #expect(backend.log.rows { $0.status == 500 }.isEmpty)
    }
  }

  /// Sends requests in turn over one connection, until the server closes it.
  private static func play(_ requests: [RandomRequests.Request], port: Int) async throws {
    try await Wire.open(port) { wire in
      for request in requests {
        do {
          try await wire.send(request.message)
          let answer = try await wire.answer(toHead: request.method == "HEAD")
          #expect((200..<600).contains(answer.status), "\(request)")
          // The server closes the connection after malformed HTTP.
          if answer["connection"] == "close" { return }
        } catch is Wire.Closed {
          Issue.record("no response to \(request)")
          return
        }
      }
    }
  }
}
