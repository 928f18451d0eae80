import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import Testing

@Suite("Unsolicited bytes inside TLS")
struct UnsolicitedBytesTests {
  private func with(
    _ reply: @escaping @Sendable (RecordedRequest) -> Reply,
    body: (TestServer, NIOTransport, Client) async throws -> Void
  ) async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { request in
      reply(request)
    } body: { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: { transport in
        try await body(server, transport, makeClient(server.origin, transport))
      }
    }
  }

  @Test(
    "Unsolicited bytes close an idle TLS connection, and the next call uses another connection",
    arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HTTP/1.1 103 Early Hints\r\n\r\n", "\r\n", "e"])
  func whileUnused(bytes: String) async throws {
    let gate = Gate()
    try await with { request in
      let reply = Reply.text("asked for \(request.number)")
      return request.number == 0 ? reply.inserting([.wait(gate), .raw(Array(bytes.utf8))], at: .end) : reply
    } body: { server, transport, client in
      let first = try await client.send(message()).string
      #expect(first == "asked for 0")
      #expect(transport.usage.idle == 1)
      gate.open()
      // Only the client has a reason to close the connection.
      try await server.wait { $0.openConnections == 0 }
      let second = try await client.send(message()).string
      #expect(second == "asked for 1")
      #expect(server.exchanges.map(\.connection) == [0, 1])
    }
  }

  @Test("Unsolicited bytes directly after a response close the TLS connection, too")
  func behindAnAnswer() async throws {
    let evil = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)
    try await with { request in
      Reply.text("asked for \(request.number)").inserting([.raw(evil)], at: .end)
    } body: { server, _, client in
      for number in 0..<3 {
        let got = try await client.send(message()).string
        #expect(got == "asked for \(number)")
      }
      #expect(server.exchanges.map(\.connection) == [0, 1, 2])
    }
  }
}
