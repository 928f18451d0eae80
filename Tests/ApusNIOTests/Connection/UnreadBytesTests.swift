#if NIO
  import ApusCore
  import ApusTestServer
  import Foundation
  import LoopbackConformance
  import NIOCore
  import Testing

  @testable import ApusNIO

  @Suite("Bytes that have come and that nobody has read")
  struct UnreadBytesTests {
    @Test(
      "are noticed before the next request is written, and never taken for its answer", arguments: [false, true])
    func beforeTheRequest(isSecure: Bool) async throws {
      let authority = isSecure ? try TestAuthority.shared() : nil
      let (sending, sent, held, released) = (Gate(), Gate(), Gate(), Gate())
      let evil = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)
      var options = TestServer.Options()
      options.tls = authority?.tls()
      try await TestServer.with(options: options) { request in
        let reply = Reply.text("asked for \(request.number)")
        // At the second gate the bytes have left.
        return request.number == 0 ? reply.inserting([.wait(sending), .raw(evil), .wait(sent)], at: .end) : reply
      } body: { server in
        try await NIOTransport.with {
          $0.eventLoops = .own(1)
          if let authority { $0.trust.additionalAuthorities = [Data(authority.certificate.utf8)] }
        } body: { transport in
          let client = try makeClient(server.origin, transport)
          let first = try await client.send(message()).string
          #expect(first == "asked for 0")
          // The connection's thread looks at its sockets only when it has begun the next exchange.
          let loop = try #require(transport.core.loops.next())
          loop.execute {
            held.open()
            for _ in 0..<60_000 where !released.isOpen { usleep(1000) }
          }
          defer { released.open() }
          try await held.wait()
          sending.open()
          try await sent.waitForArrivals(1)
          let second = Task { try await client.send(message()).string }
          try await requireSoon("the call does not get the connection") { transport.usage.active == 1 }
          released.open()
          let got = try await second.value
          #expect(got == "asked for 1")
          #expect(server.exchanges.map(\.connection) == [0, 1])
        }
      }
    }
  }
#endif
