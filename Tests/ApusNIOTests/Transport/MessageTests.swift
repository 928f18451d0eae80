import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Messages")
struct MessageTests {
  @Test("A request without content has Content-Length: 0 if its method usually has content")
  func emptyContent() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete, .head] {
          _ = try await client.send(message(method))
        }
        let lengths = server.exchanges.map { $0.fields["Content-Length"] }
        #expect(lengths == [nil, "0", "0", "0", nil, nil])
      }
    }
  }

  @Test("A message without User-Agent gets the transport's User-Agent")
  func userAgent() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with {
        $0.userAgent = "test/1"
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        _ = try await client.send(message())
        _ = try await client.send(message().field("User-Agent", "own"))
        #expect(server.exchanges.map { $0.fields.values(of: "User-Agent") } == [["test/1"], ["own"]])
      }
    }
  }

  @Test("A middleware's message with characters that would alter the wire format is refused")
  func injection() async throws {
    let spoilers: [@Sendable (inout HTTPRequest) -> Void] = [
      { $0.path = "no slash" }, { $0.path = "/a b" }, { $0.authority = "a b" }, { $0.authority = "user@host" },
      { $0.scheme = "ftp" }, { $0.headerFields[.contentLength] = "5" },
      { $0.headerFields[.transferEncoding] = "chunked" },
    ]
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        for spoil in spoilers {
          var pipeline = Pipeline()
          pipeline.insert(Spoiling(spoil: spoil), .before(.transport))
          let client = Client(
            environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline, transport: transport)
          let error = await failure { try await client.send(message(.post).content(.text("x"))) }
          #expect(error?.code == .invalidRequest)
          #expect(error?.requestState == .notSent)
        }
        #expect(server.exchanges.isEmpty)
        // The connection is still usable after the refused messages.
        _ = try await makeClient(server.origin, transport).send(message())
        #expect(server.acceptedConnections <= 1)
      }
    }
  }

  @Test("An early response is delivered, and the connection with its incomplete request is not reused")
  func earlyAnswer() async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) { _ in
      .text("too much", status: 413)
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let never = Gate()
        let stream = ContentStream(isReplayable: false) {
          {
            try await never.wait()
            return nil
          }
        }
        for _ in 0..<2 {
          let got = try await client.send(message(.put).content(.stream(stream))).status
          #expect(got == 413)
        }
        #expect(server.acceptedConnections == 2)
      }
    }
  }

  @Test("Content longer or shorter than announced fails the call, and the server does not receive a complete request")
  func wrongLength() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for length in [5, 15] as [Int64] {
          let stream = ContentStream(length: length, isReplayable: false) {
            let rest = Once([UInt8](repeating: 1, count: 10))
            return { rest.take() }
          }
          let error = await failure { try await client.send(message(.put).content(.stream(stream))) }
          #expect(error?.code == .connectionLost)
          #expect(error?.requestState == .maybeSent)
        }
        #expect(server.exchanges.allSatisfy { !$0.isComplete })
      }
    }
  }

  @Test("A file that is missing when its content is sent fails the call")
  func missingFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "gone-\(UUID())")
    try Data(count: 100).write(to: file)
    let content = MessageContent.file(try ContentFile(path: file.path))
    try FileManager.default.removeItem(at: file)
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let error = await failure {
          try await client.send(message(.put).content(RequestContent(nil) { _ in content }))
        }
        #expect(error?.code == .connectionLost)
        #expect(server.exchanges.allSatisfy { !$0.isComplete })
      }
    }
  }

  @Test(
    "A file that grows or shrinks before it is sent fails the call, and the server does not receive a complete request")
  func changedFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "changed-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for length in [99, 101] {
          try Data(count: 100).write(to: file)
          let content = MessageContent.file(try ContentFile(path: file.path))
          // The file is read after this stream.
          let change = ContentStream(length: 0, isReplayable: true) {
            try Data(count: length).write(to: file)
            return { nil }
          }
          let changed = RequestContent(nil) { _ in .joined([.stream(change), content]) }
          let error = await failure { try await client.send(message(.put).content(changed)) }
          #expect(error?.code == .connectionLost)
          #expect(error?.detail.contains("the file to send was changed") == true)
        }
        #expect(server.exchanges.allSatisfy { !$0.isComplete })
      }
    }
  }

  @Test("If the content of a request cannot be produced, the error's source is the content, not the server")
  func subject() async throws {
    struct OutOfPaper: Error {}
    let file = FileManager.default.temporaryDirectory.appending(path: "gone-\(UUID())")
    try Data(count: 100).write(to: file)
    let missing = MessageContent.file(try ContentFile(path: file.path))
    try FileManager.default.removeItem(at: file)
    let contents: [RequestContent] = [
      RequestContent(nil) { _ in missing }, .stream(ContentStream(isReplayable: false) { { throw OutOfPaper() } }),
      .stream(ContentStream(length: 5, isReplayable: false) { { nil } }),
    ]
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        var pipeline = Pipeline()
        pipeline.insert(NamingSubject(), .before(.transport))
        let environment = Environment(baseURL: try BaseURL(server.origin))
        let client = Client(environment: environment, pipeline: pipeline, transport: transport)
        for content in contents {
          let error = await failure { try await client.send(message(.put).content(content)) }
          #expect(error?.code == .connectionLost && error?.detail == "content")
        }
      }
    }
  }

  @Test("Hundreds of megabytes are transferred no faster than they are read", arguments: [false, true])
  func large(isSecure: Bool) async throws {
    let authority = try TestAuthority.shared()
    let length = 32 << 20
    try await TestServer.with(options: .init(contentLimit: 0, tls: isSecure ? authority.tls() : nil)) { _ in
      .generated(length)
    } body: { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let count = try await client.withResponse(to: message(.put).content(.bytes(Data(count: length)))) {
          response in
          var count = 0
          while let piece = try await response.next() { count += piece.count }
          return count
        }
        #expect(count == length)
        #expect(server.exchanges.first?.contentLength == length)
      }
    }
  }
}

/// A middleware that adds the source of a failure to the error's detail.
private struct NamingSubject: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    do {
      return try await next(request, context: context)
    } catch var error as TransportError {
      error.detail = "\(error.source)"
      throw error
    }
  }
}

private struct Spoiling: Middleware {
  let spoil: @Sendable (inout HTTPRequest) -> Void

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    spoil(&request.head)
    return try await next(request, context: context)
  }
}
