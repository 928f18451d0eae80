import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Trailers")
struct TrailersTests {
  private static let chunked = Reply.chunked(
    [[1, 2], [3]], trailers: ["X-Sum": "6", "Set-Cookie": "a=b", "Server-Timing": "db;dur=5"])

  private func names(_ fields: HTTPFields) -> [String] {
    fields.map { "\($0.name.rawName): \($0.value)" }
  }

  @Test("A complete response has its trailers, except for fields that must be known before the content")
  func buffered() async throws {
    try await TestServer.with { _ in
      Self.chunked
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let response = try await client.response(to: message())
        #expect(response.value.data == Data([1, 2, 3]))
        #expect(names(response.trailers) == ["X-Sum: 6", "Server-Timing: db;dur=5"])
        #expect(response.head.headerFields[.setCookie] == nil)
      }
    }
  }

  @Test("Trailers are available after the last piece of streamed content")
  func streamed() async throws {
    try await TestServer.with { _ in
      Self.chunked
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let before = try await client.withResponse(to: message()) { response in
          let before = names(response.trailers)
          _ = try await response.collect()
          #expect(names(response.trailers) == ["X-Sum: 6", "Server-Timing: db;dur=5"])
          return before
        }
        #expect(before.isEmpty)
      }
    }
  }

  @Test("Trailers are available after coded content, too")
  func coded() async throws {
    let content = compressed(Array("hello".utf8), .gzip)
    try await TestServer.with { _ in
      .chunked([content], fields: ["Content-Encoding": "gzip"], trailers: ["X-Sum": "6"])
    } body: { server in
      try await NIOTransport.with { transport in
        let response = try await makeClient(server.origin, transport).response(to: message())
        #expect(response.value.string == "hello")
        #expect(names(response.trailers) == ["X-Sum: 6"])
      }
    }
  }

  @Test("A response without trailers does not have the trailers of the previous response")
  func none() async throws {
    try await TestServer.with { exchange in
      exchange.target == "/with" ? Self.chunked : .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        #expect(try await client.response(to: message(.get, "/with")).trailers.count == 2)
        #expect(try await client.response(to: message()).trailers.isEmpty)
        #expect(try await client.response(to: message(.head, "/with")).trailers.isEmpty)
      }
    }
  }
}
