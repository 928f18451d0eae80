import ApusCore
import Foundation
import HTTPTypes
import Testing

@testable import ApusNIO

@Suite("Negotiation of HTTP/2 over TLS", .timeLimit(.minutes(3)))
struct NegotiationTests {
  /// Runs `body` with a client whose transport has the default protocols, and returns what the server received.
  private func run(
    _ scripts: [Script], body: (Client) async throws -> Void
  ) async throws -> [Received] {
    let authority = try TestAuthority.shared()
    return try await FrameServer.with(scripts, identity: authority.server) { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
        ($0.firstByteTimeout, $0.stallTimeout) = (.seconds(30), .seconds(30))
      } body: { transport in
        try await body(try makeClient("https://127.0.0.1:\(server.port)", transport))
      }
      try await server.waitUntilClosed()
      #expect(server.received.flatMap(\.violations).isEmpty)
      return server.received
    }
  }

  /// A server without faults that accepts these protocols.
  private func sane(_ protocols: [String]) -> Script {
    var script = Script.sane
    script.protocols = protocols
    return script
  }

  /// A server that requires HTTP/1.1 on its first stream.
  private static let refusing = Script([.settings(), .await(.end(1)), .reset(1, .http11Required)])

  private func makeTwoCalls(_ client: Client) async throws {
    let hello = try await client.send(message()).string
    let next = try await client.send(message(.get, "/next")).string
    #expect([hello, next] == ["hello", "next"])
  }

  @Test("HTTP/2 is used if the server selects it")
  func http2() async throws {
    let received = try await run([]) { client in
      try await makeTwoCalls(client)
    }
    #expect(received.map { $0.requests.map(\.stream) } == [[1, 3]])
  }

  @Test("HTTP/1.1 is used if the server selects it or selects no protocol", arguments: [["http/1.1"], []])
  func http1(protocols: [String]) async throws {
    let received = try await run([sane(protocols)]) { client in
      try await makeTwoCalls(client)
    }
    #expect(received.map(\.http1Heads.count) == [2])
    #expect(received.allSatisfy { $0.requests.isEmpty })
  }

  @Test("Calls that start together wait for the protocol and share one connection")
  func together() async throws {
    let received = try await run([]) { client in
      try await withThrowingTaskGroup { group in
        for _ in 0..<20 { group.addTask { try await client.send(message()).string } }
        for try await text in group { #expect(text == "hello") }
      }
    }
    #expect(received.map(\.requests.count) == [20])
  }

  @Test("A repeatable request that requires HTTP/1.1 goes on over HTTP/1.1, and so does the next call")
  func required() async throws {
    let both = sane(["h2", "http/1.1"])
    let received = try await run([Self.refusing, both, both]) { client in
      try await makeTwoCalls(client)
    }
    #expect(received.first?.requests.count == 1)
    #expect(received.dropFirst().flatMap(\.http1Heads).count == 2)
    #expect(received.dropFirst().allSatisfy { $0.requests.isEmpty })
  }

  @Test("A POST request that requires HTTP/1.1 is not repeated")
  func requiredForPost() async throws {
    let both = sane(["h2", "http/1.1"])
    let received = try await run([Self.refusing, both]) { client in
      let error = await failure { try await client.send(message(.post).content(.text("x"))) }
      #expect(error?.code == .connectionLost && error?.requestState == .maybeSent)
      #expect(error?.detail.contains("HTTP_1_1_REQUIRED") == true)
      let next = try await client.send(message(.get, "/next")).string
      #expect(next == "next")
    }
    #expect(received.flatMap(\.requests).map(\.method) == ["POST"])
    #expect(received.flatMap(\.http1Heads).allSatisfy { $0.hasPrefix("GET /next ") })
  }

  @Test("A server that selects HTTP/2 and responds with HTTP/1.1 is an error")
  func otherProtocol() async throws {
    let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    let received = try await run([Script([.await(.end(1)), .send(bytes), .await(.goAway)])]) { client in
      let error = await failure { try await client.send(message()) }
      #expect(error?.code == .malformedResponse && error?.requestState == .maybeSent)
      #expect(error?.detail.contains(FrameViolation.otherProtocol.description) == true)
      let next = try await client.send(message(.get, "/next")).string
      #expect(next == "next")
    }
    #expect(received.count == 2)
  }
}
