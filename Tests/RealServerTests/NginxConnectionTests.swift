#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

/// Servers that close connections between requests.
@Suite("nginx: connections that end", .needs(.nginx))
struct NginxConnectionTests {
  /// A location and its content.
  private struct Position: Sendable {
    let path: RequestPath
    let text: String
  }

  /// Makes concurrent calls and returns the number of connections that they used.
  private func connections(_ calls: Int, atOnce: Int, by client: Client, to place: Position) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<atOnce {
        group.addTask {
          var connections = 0
          for _ in 0..<calls / atOnce {
            let response = try await client.response(to: message(.get, place.path))
            #expect(response.value.string == place.text)
            if response.isOnNewConnection { connections += 1 }
          }
          return connections
        }
      }
      return try await group.reduce(0, +)
    }
  }

  @Test("Thousands of calls succeed at a server that serves ten requests per connection")
  func tenEach() async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url("short")) { client in
      for atOnce in [1, 16] {
        let made = try await connections(2000, atOnce: atOnce, by: client, to: Position(path: "/", text: "short\n"))
        // Each connection serves at most ten calls, and very few are closed earlier.
        #expect((200...300).contains(made), "\(atOnce) at once: \(made)")
      }
    }
  }

  @Test("Thousands of calls succeed at a server that closes idle connections immediately")
  func closedWhenIdle() async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url("closing")) { client in
      for atOnce in [1, 16] {
        _ = try await connections(2000, atOnce: atOnce, by: client, to: Position(path: "/", text: "closing\n"))
      }
    }
  }

  @Test("A connection serves call after call as long as both ends permit", arguments: ["plain", "tls13"])
  func kept(port: String) async throws {
    let nginx = try await RealServer.nginx.value
    let authority = try nginx.file("ca.pem")
    let url = port == "plain" ? try nginx.url() : "https://localhost:\(try nginx.port(port))"
    try await withClient(url) {
      $0.trust.additionalTrustRoots = [authority]
    } body: { client in
      let made = try await connections(2000, atOnce: 4, by: client, to: Position(path: "/hello", text: "hello\n"))
      #expect(made <= 4)
    }
  }
}
#endif
