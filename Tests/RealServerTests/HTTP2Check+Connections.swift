#if os(Linux)
import Apus
import ApusNIO
import ApusTesting
import Foundation
import LoopbackConformance
import Testing

extension HTTP2Check {
  static func parallel(_ server: RealServer) async throws {
    // The servers permit at least 100 streams, most of them 1,000; calls beyond the limit wait.
    try await withHTTP2(server) {
      $0.maximumConnectionsPerOrigin = 1
    } body: { client, transport in
      let calls = Request<Film>.get("/film.json")
      #expect(try await client.response(to: calls).isOnNewConnection)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<500 {
          group.addTask {
            let response = try await client.response(to: calls)
            #expect(response.value == film)
            #expect(!response.isOnNewConnection)
          }
        }
        try await group.waitForAll()
      }
      try await requireUnused { transport.usage.inUse + transport.usage.waiting == 0 }
      #expect(transport.usage.idle == 1)
    }
  }

  static func cancel(_ server: RealServer) async throws {
    try await withHTTP2(server) {
      $0.maximumConnectionsPerOrigin = 1
    } body: { client, transport in
      let (begun, never) = (Gate(), Gate())
      let download = Task {
        try await client.withResponse(to: message(.get, "/big")) { response in
          var length = 0
          while length < 4 << 20, let piece = try await response.next() { length += piece.count }
          begun.open()
          try await never.wait()
        }
      }
      try await begun.wait()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          if number == 50 { download.cancel() }
          group.addTask {
            let response = try await client.response(to: message(.get, "/text.txt"))
            #expect(response.value.string == text)
          }
        }
        try await group.waitForAll()
      }
      let error = await failure { try await download.value }
      #expect(error?.code == .cancelled)
      let after = try await client.response(to: Request<Film>.get("/film.json"))
      #expect(after.value == film)
      #expect(!after.isOnNewConnection)
    }
  }

  static func eventStream(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      var received: [String] = []
      for try await event in client.stream(Request<EventStream<String>>.get("/list.events")) {
        received.append(event)
        if received.count == eventCount { break }
      }
      #expect(received == (0..<eventCount).map { "event \($0)" })
    }
  }

  static func http1(_ server: RealServer) async throws {
    try await withHTTP2(server) {
      $0.protocols = [.http1]
    } body: { client, _ in
      let response = try await client.response(to: Request<Film>.get("/film.json"))
      #expect(response.value == film)
      #expect(response.protocolVersion == .http1)
    }
  }

  static func priorKnowledge(_ server: RealServer) async throws {
    try await withHTTP2(server, "plain") {
      $0.protocols = [.http2]
    } body: { client, _ in
      let response = try await client.response(to: Request<Film>.get("/film.json"))
      #expect(response.value == film)
      #expect(response.protocolVersion == .http2)
      try await echo(by: client)
    }
  }
}

/// Runs `body` with a client without middlewares, and with a transport that trusts the server's certificate.
///
/// - Parameter port: the server's port. Those whose options permit only HTTP/2 with prior knowledge are cleartext.
func withHTTP2<Result>(
  _ server: RealServer, _ port: String = "tls", configure: (inout NIOTransport.Options) -> Void = { _ in },
  body: (Client, NIOTransport) async throws -> Result
) async throws -> Result {
  let authority = try? server.file("ca.pem")
  return try await withTransport(.nio) {
    $0.trust.additionalTrustRoots = authority.map { [$0] } ?? []
    configure(&$0)
  } body: { transport in
    let transport = try #require(transport as? NIOTransport)
    let isSecure = !["plain", "single", "narrow", "storm"].contains(port)
    let url = try isSecure ? server.secureURL(port) : server.url(port)
    let client = Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport)
    let result = try await body(client, transport)
    try await requireSoon("calls are left in the registry") { client.calls.isEmpty }
    return result
  }
}
#endif
