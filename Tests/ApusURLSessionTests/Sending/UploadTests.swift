import ApusCore
import ApusTestServer
import ApusURLSession
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("Uploads")
struct UploadTests {
  private func send(_ content: RequestContent, to server: TestServer) async throws {
    let client = try makeClient(server)
    _ = try await client.send(Request<Content>(method: .put, path: "/file", content: content, mapping: .content))
  }

  @Test("A file is sent with its length and all of its bytes")
  func file() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)")
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await send(.file(file.path), to: server)
      let request = try await server.exchange().request
      #expect(request.fields["Content-Length"] == "300000")
      #expect(Data(request.content) == bytes)
    }
  }

  @Test("A stream too large for memory is buffered in a file, which is removed afterwards", .timeLimit(.minutes(5)))
  func largeStream() async throws {
    let before = try spools()
    let stream = ContentStream(length: nil, isReplayable: true) {
      let number = Numbers()
      return { await number.next(below: 40).map { Data(repeating: UInt8($0), count: 50_000) } }
    }
    try await TestServer.with(options: TestServer.Options(contentLimit: 4 << 20)) { _ in
      .text("")
    } body: { server in
      try await send(.stream(stream), to: server)
      let request = try await server.exchange().request
      #expect(request.fields["Content-Length"] == nil)
      #expect(Data(request.content) == Data((0..<40).flatMap { [UInt8](repeating: UInt8($0), count: 50_000) }))
    }
    // The file is removed with the exchange, which the session releases later.
    try await waitWhile(!spools().subtracting(before).isEmpty)
  }

  @Test("A stream of known length is sent with Content-Length, from memory and from a file", arguments: [1, 40])
  func knownLength(pieces: Int) async throws {
    let stream = ContentStream(length: Int64(pieces * 50_000), isReplayable: true) {
      let number = Numbers()
      return { await number.next(below: pieces).map { Data(repeating: UInt8($0), count: 50_000) } }
    }
    try await TestServer.with(options: TestServer.Options(contentLimit: 4 << 20)) { _ in
      .text("")
    } body: { server in
      try await send(.stream(stream), to: server)
      let request = try await server.exchange().request
      #expect(request.fields["Content-Length"] == "\(pieces * 50_000)")
      #expect(Data(request.content) == Data((0..<pieces).flatMap { [UInt8](repeating: UInt8($0), count: 50_000) }))
    }
  }

  @Test("A stream shorter or longer than announced is not sent", arguments: [2, 4])
  func wrongLength(pieces: Int) async throws {
    let stream = ContentStream(length: 3, isReplayable: true) {
      let number = Numbers()
      return { await number.next(below: pieces).map { Data([UInt8($0)]) } }
    }
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      let error = try #require(await errorOf { try await send(.stream(stream), to: server) } as? CallError)
      #expect(error.requestState == .notSent)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("A stream that fails ends the call with its error, and nothing is sent")
  func failingStream() async throws {
    struct OutOfPaper: Error {}
    let stream = ContentStream(isReplayable: false) { { throw OutOfPaper() } }
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      let error = try #require(await errorOf { try await send(.stream(stream), to: server) } as? CallError)
      #expect(error.requestState == .notSent)
      #expect(error.underlying is OutOfPaper || (error.underlying as? TransportError)?.underlying is OutOfPaper)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("If the content of a request cannot be produced, the error's source is the content, not the server")
  func subject() async throws {
    struct OutOfPaper: Error {}
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("gone-\(UUID().uuidString)")
    try Data(count: 100).write(to: file)
    let missing = try ContentFile(path: file.path)
    try FileManager.default.removeItem(at: file)
    let other = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID().uuidString)")
    try Data(count: 100).write(to: other)
    let cut = try ContentFile(path: other.path)
    try Data(count: 50).write(to: other)
    defer { try? FileManager.default.removeItem(at: other) }
    let contents: [RequestContent] = [
      .stream(ContentStream(isReplayable: false) { { throw OutOfPaper() } }),
      .stream(ContentStream(length: 5, isReplayable: false) { { nil } }),
      RequestContent(nil) { _ in .file(missing) }, RequestContent(nil) { _ in .file(cut) },
    ]
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      var pipeline = Pipeline()
      pipeline.insert(NamingSubject(), .before(.transport))
      let client = Client(
        environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline,
        transport: URLSessionTransport())
      for content in contents {
        let request = message(.put).content(content)
        let error = try #require(await errorOf { try await client.send(request) } as? CallError)
        #expect(error.code == .connectionLost && error.detail == "content")
      }
    }
  }

  private func spools() throws -> Set<String> {
    let names = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
    return Set(names.filter { $0.hasPrefix("apus-content-") })
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

/// A source of consecutive numbers, beginning with 0.
private actor Numbers {
  private var value = 0

  func next(below limit: Int) -> Int? {
    guard value < limit else { return nil }
    defer { value += 1 }
    return value
  }
}
