import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Back-pressure")
struct BackPressureTests {
  @Test("Content that arrived before the server closed the connection is delivered, however late it is read")
  func closedBeforeRead() async throws {
    for fields: FieldLines in [["Connection": "close"], [:]] {
      // The content exceeds the buffers of the reader and the sockets.
      let content = [UInt8](repeating: 7, count: 400_000)
      try await TestServer.with { _ in
        fields["Connection"] == nil
          ? .unframed(content) : .status(200, fields: fields, content: content)
      } body: { server in
        try await NIOTransport.with { transport in
          let count = try await makeClient(server.origin, transport).withResponse(to: message()) { response in
            var count = try await response.next()?.count ?? 0
            try await server.wait { $0.openConnections == 0 }
            while let piece = try await response.next() { count += piece.count }
            return count
          }
          #expect(count == content.count)
        }
      }
    }
  }

  @Test("While a response is not read, the server cannot continue to send it")
  func serverWaits() async throws {
    let length = 64 << 20
    try await TestServer.with { request in
      request.path == "/large" ? .generated(length) : .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        try await client.withResponse(to: message(.get, "/large")) { response in
          _ = try await response.next()
          // These exchanges take long enough for the server to send the whole large response, if the client read it.
          for _ in 0..<200 { _ = try await client.send(message(.get, "/small")) }
          #expect(server.exchanges.first { $0.path == "/large" }?.outcome == .inFlight)
        }
        try await server.waitForClientClose(of: try await server.exchange { $0.path == "/large" })
      }
    }
  }

  @Test("Highly compressed content is decoded no faster than it is read")
  func codedSlowly() async throws {
    // 8 MiB of zeros, compressed twice with gzip: 110 bytes.
    let bomb = try #require(Data(base64Encoded: Self.zeros))
    try await TestServer.with { _ in
      .status(200, fields: ["Content-Encoding": "gzip, gzip"], content: Array(bomb))
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for _ in 0..<2 {
          let count = try await client.withResponse(to: message()) { response in
            var count = 0
            while let piece = try await response.next() {
              #expect(piece.count <= 64 << 10)
              count += piece.count
              await Task.yield()
            }
            return count
          }
          #expect(count == 8 << 20)
        }
        #expect(server.acceptedConnections == 1)
      }
    }
  }

  private static let zeros =
    "H4sIAAAAAAACA+3XsQ2CQACF4TsuJhdGsCEm7sAEzsEqJJQ2DuAOLGDDCrSsQBhBPMbAfF/11697zTOHQ5XWKcYS/es7brkO"
    + "AAAAwJ/rlyFVR9z2rr3bAwAAAE7gfXl85mu59eEH2xnUp+8fAAA="
}
