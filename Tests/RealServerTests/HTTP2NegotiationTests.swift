#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

@Suite("nginx: the choice of HTTP/2", .needs(.nginxHTTP2))
struct HTTP2NegotiationTests {
  @Test("A TLS version that the server chooses carries HTTP/2", arguments: ["tls12", "tls13"])
  func versions(port: String) async throws {
    try await withHTTP2(try await RealServer.nginxHTTP2.value, port) { client, _ in
      let response = try await client.response(to: message(.get, "/secure"))
      #expect(response.value.string == "TLSv1.\(port.suffix(1)) HTTP/2.0\n")
      #expect(response.protocolVersion == .http2)
      try await HTTP2Check.echo(by: client)
    }
  }

  @Test("A server that does not support HTTP/2 is spoken to over HTTP/1.1")
  func fallback() async throws {
    try await withHTTP2(try await RealServer.nginxHTTP2.value, "http1") { client, _ in
      let response = try await client.response(to: message(.get, "/secure"))
      #expect(response.value.string.hasSuffix("HTTP/1.1\n"))
      #expect(response.protocolVersion == .http1)
    }
  }

  @Test("A call that permits HTTP/2 alone fails at a server that does not support it")
  func required() async throws {
    try await withHTTP2(try await RealServer.nginxHTTP2.value, "http1") {
      $0.protocols = [.http2]
    } body: { client, _ in
      let error = try #require(await failure { try await client.send(message(.get, "/secure")) })
      #expect(error.code == .connectionFailed)
      #expect(error.requestState == .notSent)
      #expect("\(error)".contains("HTTP/2"))
    }
  }
}
#endif
