import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Content codings of responses")
struct CodingTests {
  /// "hello hello hello hello" in gzip.
  private static let hello: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27,
    0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00, 0x00, 0x00,
  ]

  private func get(
    _ reply: Reply, _ request: Request<Content> = message()
  ) async throws -> (result: Result<Response<Content>, CallError>, accepted: [String]) {
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let result: Result<Response<Content>, CallError>
        do throws(CallError) {
          result = .success(try await client.response(to: request))
        } catch {
          result = .failure(error)
        }
        return (result, server.exchanges.first?.fields.values(of: "Accept-Encoding") ?? [])
      }
    }
  }

  private func coded(_ bytes: [UInt8], _ coding: String = "gzip") -> Reply {
    .status(200, fields: ["Content-Encoding": coding, "Content-Type": "text/plain"], content: bytes)
  }

  @Test("Coded content is delivered decoded, with a head that describes the decoded content")
  func decoded() async throws {
    let (result, accepted) = try await get(coded(Self.hello))
    let response = try result.get()
    #expect(response.value.string == "hello hello hello hello")
    #expect(response.head.headerFields[.contentEncoding] == nil)
    #expect(response.head.headerFields[.contentLength] == nil)
    #expect(accepted == ["gzip, deflate"])
  }

  @Test("The response to a request with its own Accept-Encoding or Range field is not decoded")
  func asked() async throws {
    let (own, ownAccepted) = try await get(coded(Self.hello), message().field("Accept-Encoding", "gzip, br"))
    let response = try own.get()
    #expect(response.value.data == Data(Self.hello))
    #expect(response.head.headerFields[.contentEncoding] == "gzip")
    #expect(ownAccepted == ["gzip, br"])
    let (_, partAccepted) = try await get(.text("part", status: 206), message().field("Range", "bytes=0-3"))
    #expect(partAccepted == ["identity"])
  }

  @Test("Content with an unknown coding is delivered unchanged")
  func unknown() async throws {
    let response = try await get(coded([1, 2, 3], "br")).result.get()
    #expect(response.value.data == Data([1, 2, 3]))
    #expect(response.head.headerFields[.contentEncoding] == "br")
  }

  @Test("Malformed or truncated coded content fails the call with the request state responded")
  func malformed() async throws {
    let long = Self.hello + Array(repeating: 0, count: 4097)
    for bytes in [
      Array(Self.hello.dropLast()), long, Self.hello + [0x1F, 0x8B], [1, 2, 3], Array(Self.hello.prefix(12)),
    ] {
      guard case .failure(let error) = try await get(coded(bytes)).result else { throw Unexpected() }
      #expect(error.code == .malformedResponse)
      #expect(error.requestState == .responded)
    }
    guard case .failure(let error) = try await get(coded(Self.hello, "gzip, gzip, gzip, gzip, gzip, gzip")).result
    else { throw Unexpected() }
    #expect(error.code == .malformedResponse)
  }

  private static let skipped: TraceNote = "bytes skipped after the end of the content coding"

  @Test("Bytes after a gzip member are skipped, and the trace records their number", arguments: ["\r\n", "\0\0\0", ""])
  func trailing(text: String) async throws {
    let notes: [TraceEvent.Kind] = text.isEmpty ? [] : [.note(Self.skipped, Int64(text.utf8.count))]
    let bytes = Self.hello + Array(text.utf8)
    for reply in [coded(bytes), .chunked(bytes.map { [$0] }, fields: ["Content-Encoding": "gzip"])] {
      let response = try await get(reply).result.get()
      #expect(response.value.string == "hello hello hello hello")
      #expect(response.trace.events.map(\.kind).filter { if case .note = $0 { true } else { false } } == notes)
    }
  }

  @Test("A streamed call skips bytes after a gzip member, too")
  func trailingInStream() async throws {
    let reply = coded(Self.hello + Array("\r\n".utf8))
    try await TestServer.with { _ in
      reply
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let content = try await client.withResponse(to: message()) { response in try await response.collect() }
        #expect(content == Data("hello hello hello hello".utf8))
      }
    }
  }

  @Test("Bytes after a gzip member are an error if the response has a digest")
  func trailingWithDigest() async throws {
    let reply = coded(Self.hello + [0]).setting("Content-Digest", to: "sha-256=:AAAA:")
    guard case .failure(let error) = try await get(reply).result else { throw Unexpected() }
    #expect(error.code == .malformedResponse)
    #expect(error.detail.contains("follow the end of the coded content"))
  }

  @Test("The content limit applies to the decoded content")
  func limit() async throws {
    guard case .failure(let error) = try await get(coded(Self.hello), message().contentLimit(22)).result else {
      throw Unexpected()
    }
    #expect(error.code == .contentTooLarge)
    #expect(try await get(coded(Self.hello), message().contentLimit(23)).result.get().value.data.count == 23)
  }

  @Test("Content-Encoding is ignored in responses without content")
  func empty() async throws {
    #expect(try await get(coded([])).result.get().value.data.isEmpty)
    let head = try await get(coded(Self.hello), message(.head)).result.get()
    #expect(head.head.headerFields[.contentEncoding] == "gzip")
    #expect(head.head.headerFields[.contentLength] == "\(Self.hello.count)")
  }
}
